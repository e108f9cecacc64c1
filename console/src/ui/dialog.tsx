import type { ReactNode } from "react";
import { useRef } from "react";

interface DialogProps {
  /** Of the button that opens it. */
  readonly label: string;
  readonly title: string;
  readonly confirm: string;
  readonly isDanger?: boolean;
  readonly isBusy: boolean;
  readonly onConfirm: (close: () => void) => void;
  readonly children: ReactNode;
}

/** A button that asks before it acts. The browser keeps the focus inside, and Escape closes it. */
export function Dialog(props: DialogProps) {
  const { label, title, confirm, isDanger = false, isBusy, onConfirm, children } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const close = () => dialog.current?.close();
  return (
    <>
      <button type="button" className="button" onClick={() => dialog.current?.showModal()}>
        {label}
      </button>
      <dialog ref={dialog} className="dialog" aria-label={title}>
        <h2>{title}</h2>
        {children}
        <div className="row end">
          <button type="button" className="button" onClick={close}>
            Back
          </button>
          <button
            type="button"
            className={`button ${isDanger ? "danger" : "primary"}`}
            disabled={isBusy}
            onClick={() => onConfirm(close)}
          >
            {confirm}
          </button>
        </div>
      </dialog>
    </>
  );
}

import type { RefObject } from "react";

const keys = [
  ["1 … 9", "open a screen"],
  ["Ctrl K", "go to a screen, an agent, or a run"],
  ["j, k", "next and previous decision in the inbox"],
  ["a", "move to Approve; Enter confirms"],
  ["r", "move to Reject; Enter confirms"],
  ["e", "move to Edit arguments"],
  ["Ctrl Z", "undo in the canvas of a workflow; Ctrl Y does it again"],
  ["Delete", "remove the chosen node or edge of a workflow"],
  ["Escape", "close a dialog"],
  ["?", "show this list"],
] as const;

export function KeysHelp({ dialog }: { readonly dialog: RefObject<HTMLDialogElement | null> }) {
  return (
    <dialog ref={dialog} className="dialog" aria-label="Keys">
      <h2>Keys</h2>
      <dl className="keys">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <div className="row end">
        <button type="button" className="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}

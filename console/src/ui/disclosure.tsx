import type { ReactNode } from "react";
import { useContext, useId, useState } from "react";
import { Icon } from "./icons.tsx";
import { OpenedContext } from "./opened.ts";

interface DisclosureProps {
  readonly summary: ReactNode;
  readonly className?: string;
  readonly isOpen?: boolean;
  /** Tells it from others in the same item of a list. */
  readonly name?: string;
  /** Rendered only while it is open: there may be thousands. */
  readonly children: ReactNode;
}

/** A heading that opens and closes what is below it. */
export function Disclosure({
  summary,
  className = "",
  isOpen: first = false,
  name = "",
  children,
}: DisclosureProps) {
  const opened = useContext(OpenedContext);
  const key = JSON.stringify([opened?.item, name]);
  const [isOpen, setOpen] = useState(opened?.store.get(key) ?? first);
  const onClick = () => {
    opened?.store.set(key, !isOpen);
    setOpen(!isOpen);
  };
  const id = useId();
  return (
    <div className={`disclosure ${className}`}>
      <button
        type="button"
        className="disclosure-head"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={onClick}
      >
        <span className={isOpen ? "turn open" : "turn"}>
          <Icon name="chevron" />
        </span>
        {summary}
      </button>
      {isOpen && (
        <div id={id} className="disclosure-body">
          {children}
        </div>
      )}
    </div>
  );
}

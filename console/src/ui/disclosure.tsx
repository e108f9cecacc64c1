import type { ReactNode } from "react";
import { useId, useState } from "react";
import { Icon } from "./icons.tsx";

interface DisclosureProps {
  readonly summary: ReactNode;
  readonly className?: string;
  readonly isOpen?: boolean;
  /** Rendered only while it is open: there may be thousands. */
  readonly children: ReactNode;
}

/** A heading that opens and closes what is below it. */
export function Disclosure({
  summary,
  className = "",
  isOpen: first = false,
  children,
}: DisclosureProps) {
  const [isOpen, setOpen] = useState(first);
  const id = useId();
  return (
    <div className={`disclosure ${className}`}>
      <button
        type="button"
        className="disclosure-head"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
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

import type { ReactNode } from "react";
import { Disclosure } from "../../ui/disclosure.tsx";

interface BreakGlassProps {
  /** The field of the reason, if the form does not show it. */
  readonly children?: ReactNode;
  readonly isDisabled: boolean;
  readonly onBreak: () => void;
}

/** Approves a call alone and at once, in an emergency, for those whom a policy permits it. */
export function BreakGlass({ isDisabled, onBreak, children }: BreakGlassProps) {
  return (
    <Disclosure summary="In an emergency" className="break-glass">
      <p>
        Break the glass to approve alone and at once, in spite of votes and waits. It needs a reason
        and a policy that names you. It is recorded, and raises an alarm.
      </p>
      {children}
      <button type="button" className="button danger" disabled={isDisabled} onClick={onBreak}>
        Break the glass
      </button>
    </Disclosure>
  );
}

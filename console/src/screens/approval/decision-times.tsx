import type { Approval } from "@reeve/contracts/approval";
import { msOf } from "../../format/time.ts";
import { Ago } from "../../ui/times.tsx";
import { useNow } from "../../ui/use-now.ts";

interface DecisionTimesProps {
  readonly approval: Pick<Approval, "decidableAfter" | "freeze">;
}

/** From when on the call can be approved. Nothing if that is now. */
export function DecisionTimes({ approval: { decidableAfter, freeze } }: DecisionTimesProps) {
  const now = useNow();
  const waitEndMs = msOf(decidableAfter) ?? 0;
  const isWaiting = waitEndMs > now;
  if (!isWaiting && freeze === undefined) return null;
  return (
    <ul className="votes" aria-label="When it can be approved">
      {freeze !== undefined && (
        <li>
          cannot be approved in the freeze {freeze.name}
          {freeze.endsAt !== undefined && (
            <>
              , which ends <Ago ms={msOf(freeze.endsAt)} />
            </>
          )}
          ; can be rejected
        </li>
      )}
      {isWaiting && (
        <li>
          can be approved <Ago ms={waitEndMs} />, and rejected at once
        </li>
      )}
    </ul>
  );
}

import type { Approval } from "@reeve/contracts/approval";
import { msOf } from "../../format/time.ts";
import { Ago } from "../../ui/times.tsx";
import { useNow } from "../../ui/use-now.ts";

interface DecisionTimesProps {
  readonly approval: Pick<Approval, "decidableAfter" | "freeze" | "escalations">;
}

/** From when on the call can be approved, and more people may decide. Nothing if that is now. */
export function DecisionTimes({ approval }: DecisionTimesProps) {
  const { decidableAfter, freeze, escalations } = approval;
  const now = useNow();
  const waitEndMs = msOf(decidableAfter) ?? 0;
  const isWaiting = waitEndMs > now;
  if (!isWaiting && freeze === undefined && escalations.length === 0) return null;
  return (
    <ul className="votes" aria-label="When it can be decided">
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
      {escalations.map(({ alternative, dueAt, escalatedAt }, index) => {
        const groups = (alternative?.groups ?? []).map((group) => `group ${group}`);
        const members = [...(alternative?.people ?? []), ...groups];
        return (
          <li key={alternative?.name ?? index}>
            {escalatedAt === undefined ? "escalates" : "escalated"}{" "}
            <Ago ms={msOf(escalatedAt ?? dueAt)} /> to{" "}
            {members.join(", ") || "anyone who may approve"}
          </li>
        );
      })}
    </ul>
  );
}

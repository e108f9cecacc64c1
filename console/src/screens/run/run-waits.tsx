import { stateOfWait, untilOf } from "../../run/client-waits.ts";
import type { RunModel } from "../../run/run-model.ts";
import { Badge } from "../../ui/badge.tsx";

/** How many calls are named. */
const maxShown = 5;

/** The calls of clients' tools for whose answers the run waits. */
export function RunWaits({ run }: { readonly run: RunModel }) {
  const waits = [...run.clientWaits.values()];
  if (waits.length === 0) return null;
  const more = waits.length - maxShown;
  return (
    <ul className="run-waits" aria-label="Waits for clients">
      {waits.slice(0, maxShown).map((wait) => (
        <li key={wait.callId}>
          <Badge {...stateOfWait(wait)} /> <span className="mono">{wait.name}</span>{" "}
          <span className="muted">{untilOf(wait)}</span>
        </li>
      ))}
      {more > 0 && <li className="muted">and {more} more</li>}
    </ul>
  );
}

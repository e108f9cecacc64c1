import type { CountRunsResponse } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import { formatCount } from "../../format/amounts.ts";
import { listedStatuses, nameOfStatus } from "../../format/names.ts";

interface StatusChipsProps {
  readonly chosen: readonly string[];
  readonly counts: CountRunsResponse | undefined;
  readonly onChange: (chosen: readonly string[]) => void;
}

/** The statuses to choose from, each with the number of runs that the other filters leave. */
export function StatusChips({ chosen, counts, onChange }: StatusChipsProps) {
  return (
    <div className="chips" role="group" aria-label="Status">
      {listedStatuses.map((status) => {
        const { name, tone } = nameOfStatus(status);
        const isChosen = chosen.includes(name);
        const next = isChosen ? chosen.filter((each) => each !== name) : [...chosen, name];
        return (
          <button
            key={name}
            type="button"
            className={`chip tone-${tone}`}
            aria-pressed={isChosen}
            onClick={() => onChange(next)}
          >
            <span className="mark" aria-hidden="true" />
            {name}
            {counts !== undefined && <span className="count">{countOf(counts, status)}</span>}
          </button>
        );
      })}
    </div>
  );
}

function countOf({ statuses, isPartial }: CountRunsResponse, shown: RunStatus): string {
  const isShown = (status: RunStatus) =>
    status === shown || (shown === RunStatus.RUNNING && status === RunStatus.STARTING);
  const sum = statuses.reduce((all, { status, count }) => all + (isShown(status) ? count : 0), 0);
  return `${formatCount(sum)}${isPartial ? "+" : ""}`;
}

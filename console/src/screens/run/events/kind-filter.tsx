import type { RunEvent } from "@reeve/contracts/run";
import { useMemo } from "react";
import { nameOfKind } from "../../../format/names.ts";

interface KindFilterProps {
  readonly events: readonly RunEvent[];
  readonly version: number;
  /** Empty: all. */
  readonly chosen: ReadonlySet<string>;
  readonly onChange: (chosen: ReadonlySet<string>) => void;
}

/** Chooses which kinds of events are listed, with the number of each. */
export function KindFilter({ events, version, chosen, onChange }: KindFilterProps) {
  const counts = useMemo(
    () => countsOf(events),
    // oxlint-disable-next-line react/exhaustive-deps
    [events, version],
  );
  const toggle = (kind: string) => {
    const next = new Set(chosen);
    if (!next.delete(kind)) next.add(kind);
    onChange(next);
  };
  return (
    <div className="chips wrap" role="group" aria-label="Kinds of events">
      {[...counts].map(([kind, count]) => (
        <button
          key={kind}
          type="button"
          className="chip small"
          aria-pressed={chosen.has(kind)}
          onClick={() => toggle(kind)}
        >
          {nameOfKind(kind)}
          <span className="count">{count}</span>
        </button>
      ))}
    </div>
  );
}

function countsOf(events: readonly RunEvent[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { event } of events) {
    const kind = event.case ?? "";
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

import { useWindowVirtualizer } from "@tanstack/react-virtual";
import type { Run } from "@reeve/contracts/run";
import { useEffect, useRef } from "react";
import { topOf } from "../../ui/content/long-list.tsx";
import { RunRow } from "./run-row.tsx";

interface RunTableProps {
  readonly runs: readonly Run[];
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: (runId: string, isChosen: boolean) => void;
  readonly onChooseAll: (areChosen: boolean) => void;
  /** Called when the last rows come into view. */
  readonly onEnd: () => void;
}

const columns = 8;
/** How far from its end the list asks for more. */
const rowsBeforeEnd = 20;

/** The runs of the list. Only the rows in view are rendered, however many there are. */
export function RunTable({ runs, chosen, onChoose, onChooseAll, onEnd }: RunTableProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const rows = useWindowVirtualizer({
    count: runs.length,
    estimateSize: () => 62,
    getItemKey: (index) => runs[index]?.runId ?? index,
    overscan: 8,
    scrollMargin: topOf(body.current),
  });
  const items = rows.getVirtualItems();
  const { scrollMargin } = rows.options;
  const before = (items[0]?.start ?? scrollMargin) - scrollMargin;
  const after = rows.getTotalSize() - ((items.at(-1)?.end ?? scrollMargin) - scrollMargin);
  const isNearEnd = (items.at(-1)?.index ?? 0) >= runs.length - rowsBeforeEnd;
  useEffect(() => {
    if (isNearEnd) onEnd();
  }, [isNearEnd, runs.length, onEnd]);
  return (
    <div className="table-box">
      <table className="table runs" aria-rowcount={runs.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col" className="choose">
              <input
                type="checkbox"
                aria-label="Choose all runs of the list"
                checked={chosen.size > 0}
                onChange={(event) => onChooseAll(event.target.checked)}
              />
            </th>
            <th scope="col">Status</th>
            <th scope="col">Run</th>
            <th scope="col">Agent</th>
            <th scope="col">Started by</th>
            <th scope="col">Started</th>
            <th scope="col" className="number">
              Duration
            </th>
            <th scope="col" className="number">
              Cost
            </th>
          </tr>
        </thead>
        <tbody ref={body}>
          <Gap height={before} />
          {items.map(({ index, key }) => {
            const run = runs[index];
            return (
              run && (
                <RunRow
                  key={key}
                  run={run}
                  index={index}
                  isChosen={chosen.has(run.runId)}
                  onChoose={onChoose}
                  measure={rows.measureElement}
                />
              )
            );
          })}
          <Gap height={after} />
        </tbody>
      </table>
    </div>
  );
}

/** The place of the rows that are not rendered. */
function Gap({ height }: { readonly height: number }) {
  if (height <= 0) return null;
  return (
    <tr className="gap" aria-hidden="true">
      <td colSpan={columns} style={{ height }} />
    </tr>
  );
}

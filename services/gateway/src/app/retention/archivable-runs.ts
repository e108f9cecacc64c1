import { timestampMs } from "@bufbuild/protobuf/wkt";
import { bucketOf } from "@reeve/contracts/channel";
import type { Run } from "@reeve/contracts/run";
import { RunSchema } from "@reeve/contracts/run";
import type { ArchiveOutcome } from "@reeve/jetstream/log/archive-port";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import type { LogCatalog, LogEnd } from "@reeve/jetstream/projection/port";
import type { Row, Table } from "@reeve/jetstream/table/port";
import type { Clock } from "@reeve/platform/async/clock";
import { isTerminal } from "@reeve/run/head/run-status";

/** Interval between two runs, so that archives leave the store to others. */
const intervalMs = 5;

const { tokensOf } = bucketOf(RunSchema);

interface ArchivablePorts {
  readonly runs: Pick<Table<Run>, "watch">;
  readonly clock: Clock;
}

/**
 * The runs that ended at least `afterMs` ago, as their rows show them. A search begins at the first run whose archive the search before it
 * did not complete, so this process sees a run that is archived once.
 */
export class ArchivableRuns implements LogCatalog<RunKey> {
  readonly #ports: ArchivablePorts;
  readonly #afterMs: number;
  /** When the runs of the present search ended that are not done. */
  readonly #left = new Map<string, number>();
  #nextFromMs = -Infinity;

  constructor(ports: ArchivablePorts, afterMs: number) {
    this.#ports = ports;
    this.#afterMs = afterMs;
  }

  async *ends(signal: AbortSignal): AsyncIterable<LogEnd<RunKey>> {
    const { runs, clock } = this.#ports;
    const cutoffMs = clock.now() - this.#afterMs;
    const fromMs = Math.min(this.#nextFromMs, this.#firstLeftMs());
    this.#left.clear();
    this.#nextFromMs = fromMs;
    for await (const change of runs.watch("", signal)) {
      if (change.kind === "current") break;
      if (change.kind !== "written") continue;
      const end = endOf(change.row);
      if (end === undefined || end.endedMs > cutoffMs || end.endedMs < fromMs) continue;
      this.#left.set(nameOf(end.key), end.endedMs);
      yield { key: end.key, sequence: change.row.record.lastSequence, kinds: [] };
      await clock.sleep(intervalMs, signal);
    }
    this.#nextFromMs = cutoffMs;
  }

  /** Takes note of what became of a run. */
  settle(key: RunKey, outcome: ArchiveOutcome | "failed"): void {
    if (outcome !== "closed" && outcome !== "changed") this.#left.delete(nameOf(key));
  }

  #firstLeftMs(): number {
    let first = Infinity;
    for (const endedMs of this.#left.values()) first = Math.min(first, endedMs);
    return first;
  }
}

function nameOf({ tenant, run }: RunKey): string {
  return `${tenant}.${run}`;
}

function endOf({ key, record }: Row<Run>) {
  const { tenant } = tokensOf(key) ?? {};
  const { status, endedAt, deleting, runId: run } = record;
  if (tenant === undefined || !isTerminal(status) || endedAt === undefined || deleting) {
    return undefined;
  }
  return { key: { tenant, run }, endedMs: timestampMs(endedAt) };
}

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
/** Runs that are held at a time. */
const maxHeld = 5_000;

const { tokensOf } = bucketOf(RunSchema);

interface ArchivablePorts {
  readonly runs: Pick<Table<Run>, "watch">;
  readonly clock: Clock;
}

/** A run that has ended. */
interface EndedRun {
  readonly name: string;
  readonly key: RunKey;
  readonly endedMs: number;
  readonly sequence: number;
}

/**
 * The runs that ended at least `afterMs` ago, as their rows show them, in the order of their ends. A search begins at the first run whose
 * archive the search before it did not complete, so that few runs are read twice.
 */
export class ArchivableRuns implements LogCatalog<RunKey> {
  readonly #ports: ArchivablePorts;
  readonly #afterMs: number;
  /** When the runs ended that were found and are not settled. */
  readonly #open = new Map<string, number>();
  /** When the first run ended that the next search must return again. */
  #firstLeftMs = Infinity;
  #fromMs = -Infinity;

  constructor(ports: ArchivablePorts, afterMs: number) {
    this.#ports = ports;
    this.#afterMs = afterMs;
  }

  async *ends(signal: AbortSignal): AsyncIterable<LogEnd<RunKey>> {
    const { clock } = this.#ports;
    const toMs = clock.now() - this.#afterMs;
    const fromMs = Math.min(this.#fromMs, this.#firstLeftMs, ...this.#open.values());
    this.#open.clear();
    this.#firstLeftMs = Infinity;
    this.#fromMs = fromMs;
    let last: Pick<EndedRun, "name" | "endedMs"> = { name: "", endedMs: fromMs };
    for (;;) {
      const found = await this.#oldest(last, toMs, signal);
      for (const run of found) {
        this.#open.set(run.name, run.endedMs);
        yield { key: run.key, sequence: run.sequence, kinds: [] };
        last = run;
        await clock.sleep(intervalMs, signal);
      }
      if (found.length < maxHeld) break;
    }
    this.#fromMs = toMs;
  }

  /** Takes note of what became of a run. */
  settle(key: RunKey, outcome: ArchiveOutcome | "failed"): void {
    const name = nameOf(key);
    const endedMs = this.#open.get(name) ?? Infinity;
    this.#open.delete(name);
    const isLeft = outcome === "closed" || outcome === "changed";
    if (isLeft) this.#firstLeftMs = Math.min(this.#firstLeftMs, endedMs);
  }

  /** Returns the first runs after `last` that ended until `toMs`. */
  async #oldest(
    last: Pick<EndedRun, "name" | "endedMs">,
    toMs: number,
    signal: AbortSignal,
  ): Promise<readonly EndedRun[]> {
    let found: EndedRun[] = [];
    for await (const change of this.#ports.runs.watch("", signal)) {
      if (change.kind === "current") break;
      if (change.kind !== "written") continue;
      const run = endOf(change.row);
      if (run === undefined || run.endedMs > toMs || compare(run, last) <= 0) continue;
      found.push(run);
      if (found.length >= 2 * maxHeld) found = found.toSorted(compare).slice(0, maxHeld);
    }
    return found.toSorted(compare).slice(0, maxHeld);
  }
}

function compare(a: Pick<EndedRun, "name" | "endedMs">, b: typeof a): number {
  return a.endedMs - b.endedMs || (a.name < b.name ? -1 : Number(a.name > b.name));
}

function nameOf({ tenant, run }: RunKey): string {
  return `${tenant}.${run}`;
}

function endOf({ key: rowKey, record }: Row<Run>): EndedRun | undefined {
  const { tenant } = tokensOf(rowKey) ?? {};
  const { status, endedAt, deleting, runId: run, lastSequence: sequence } = record;
  if (tenant === undefined || !isTerminal(status) || endedAt === undefined || deleting) {
    return undefined;
  }
  const key = { tenant, run };
  return { key, name: nameOf(key), endedMs: timestampMs(endedAt), sequence };
}

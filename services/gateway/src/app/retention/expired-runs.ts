import { timestampMs } from "@bufbuild/protobuf/wkt";
import { bucketOf } from "@reeve/contracts/channel";
import type { Run } from "@reeve/contracts/run";
import { RunSchema } from "@reeve/contracts/run";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import type { LogCatalog, LogEnd } from "@reeve/jetstream/projection/port";
import type { Row, Table } from "@reeve/jetstream/table/port";
import type { Clock } from "@reeve/platform/async/clock";
import { isTerminal } from "@reeve/run/head/run-status";

/** Which runs that have ended are kept. Undefined: all. */
export interface RetentionPolicy {
  /** How long a run is kept after its end. */
  readonly maxAgeMs: number | undefined;
  /** How many runs of a tenant are kept, the ones that ended last. */
  readonly maxRuns: number | undefined;
}

interface ExpiredPorts {
  readonly runs: Pick<Table<Run>, "watch">;
  readonly clock: Clock;
}

/**
 * A run that ended less than this ago is kept whatever the number of runs: a client may still repeat the request that started
 * it, which would start it again.
 */
const minAgeMs = 3_600_000;
/** Interval between two runs, so that deletions leave the store to others. */
const intervalMs = 20;
/** Keys that are held at a time. */
const maxHeld = 5_000;

const { tokensOf } = bucketOf(RunSchema);

/** The runs that a policy does not keep, as their rows show them, approximately in the order of their ends. */
export function expiredRuns(ports: ExpiredPorts, policy: RetentionPolicy): LogCatalog<RunKey> {
  return {
    async *ends(signal) {
      const cutoffs = await cutoffsOf(ports, policy, signal);
      const seen = new Set<string>();
      for (;;) {
        const expired = await nextExpired(ports, cutoffs, seen, signal);
        for (const end of expired) {
          yield end;
          await ports.clock.sleep(intervalMs, signal);
        }
        if (expired.length < maxHeld) return;
        // Runs that could not be deleted would be found again.
        for (const { key } of expired) seen.add(`${key.tenant}.${key.run}`);
      }
    },
  };
}

/** Returns, for a tenant, the time before which a run must have ended to be deleted. */
type Cutoffs = (tenant: string) => number;

async function cutoffsOf(
  { runs, clock }: ExpiredPorts,
  { maxAgeMs = Infinity, maxRuns = Infinity }: RetentionPolicy,
  signal: AbortSignal,
): Promise<Cutoffs> {
  const now = clock.now();
  const oldest = now - maxAgeMs;
  if (maxRuns === Infinity) return () => oldest;
  const ends = new Map<string, number[]>();
  for await (const row of currentRows(runs, signal)) {
    const { tenant, endedMs } = endOf(row) ?? {};
    if (tenant === undefined || endedMs === undefined) continue;
    const known = ends.get(tenant);
    if (known === undefined) ends.set(tenant, [endedMs]);
    else known.push(endedMs);
  }
  const cutoffs = new Map<string, number>();
  for (const [tenant, times] of ends) {
    const firstKept = Float64Array.from(times).toSorted().at(-maxRuns);
    if (firstKept !== undefined && times.length > maxRuns) cutoffs.set(tenant, firstKept);
  }
  return (tenant) => Math.max(oldest, Math.min(cutoffs.get(tenant) ?? -Infinity, now - minAgeMs));
}

async function nextExpired(
  { runs }: ExpiredPorts,
  cutoffOf: Cutoffs,
  seen: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<readonly LogEnd<RunKey>[]> {
  const expired: LogEnd<RunKey>[] = [];
  for await (const row of currentRows(runs, signal)) {
    const end = endOf(row);
    if (end === undefined || end.endedMs >= cutoffOf(end.tenant) || seen.has(row.key)) continue;
    const key = { tenant: end.tenant, run: row.record.runId };
    expired.push({ key, sequence: row.record.lastSequence, kinds: [] });
    if (expired.length === maxHeld) break;
  }
  return expired;
}

/** Returns when a run ended, or undefined if it has not. */
function endOf({ key, record }: Row<Run>) {
  const { tenant } = tokensOf(key) ?? {};
  if (tenant === undefined || !isTerminal(record.status) || !record.endedAt) return undefined;
  return { tenant, endedMs: timestampMs(record.endedAt) };
}

async function* currentRows(
  runs: Pick<Table<Run>, "watch">,
  signal: AbortSignal,
): AsyncIterable<Row<Run>> {
  for await (const change of runs.watch("", signal)) {
    if (change.kind === "current") return;
    if (change.kind === "written") yield change.row;
  }
}

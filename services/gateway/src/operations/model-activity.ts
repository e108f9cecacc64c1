import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { ModelActivitySchema } from "@reeve/contracts/operations";
import type { ModelCalls, WorkerPresence } from "@reeve/contracts/worker-presence";

/** Upper limits of durations, in milliseconds, as the contract of `ModelCalls.durations` documents them. */
const durationLimitsMs = [
  100, 250, 500, 1_000, 2_500, 5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 320_000,
];
const maxFailedRuns = 20;

type Activity = Exclude<
  MessageInitShape<typeof ModelActivitySchema>,
  { readonly $typeName: string }
>;

/**
 * Adds up what workers have counted of each model: for one tenant, or for all. Names only runs of `tenant`. The model with the most calls
 * comes first.
 */
export function modelActivity(
  workers: readonly WorkerPresence[],
  { tenant, allTenants }: { readonly tenant: string; readonly allTenants: boolean },
): readonly Activity[] {
  const rows = workers
    .flatMap(({ modelCalls }) => modelCalls)
    .filter((row) => allTenants || row.tenant === tenant);
  const models = Map.groupBy(rows, ({ provider, model }) => JSON.stringify([provider, model]));
  return [...models.values()]
    .map((ofModel) => activityOf(ofModel, tenant))
    .toSorted((one, other) => (other.calls ?? 0) - (one.calls ?? 0));
}

function activityOf(rows: readonly ModelCalls[], tenant: string): Activity {
  const sum = (count: (row: ModelCalls) => number) =>
    rows.reduce((total, row) => total + count(row), 0);
  const durations = durationLimitsMs.map((_, place) => sum((row) => row.durations[place] ?? 0));
  const calls = sum((row) => row.calls);
  const median = quantileOf(durations, calls, 0.5);
  const p95 = quantileOf(durations, calls, 0.95);
  const own = rows.filter((row) => row.tenant === tenant);
  const failedRunIds = [...new Set(own.flatMap((row) => row.failedRunIds))];
  return {
    provider: rows[0]?.provider ?? "",
    model: rows[0]?.model ?? "",
    calls,
    failures: sum((row) => row.failures),
    inputTokens: BigInt(sum((row) => Number(row.inputTokens))),
    outputTokens: BigInt(sum((row) => Number(row.outputTokens))),
    costUsd: sum((row) => row.costUsd),
    unpricedCalls: sum((row) => row.unpricedCalls),
    failedRunIds: failedRunIds.slice(0, maxFailedRuns),
    ...(median !== undefined && { medianDuration: durationFromMs(median) }),
    ...(p95 !== undefined && { p95Duration: durationFromMs(p95) }),
  };
}

/** Returns the limit that a part of the calls did not exceed. Undefined: they took longer than the last limit. */
function quantileOf(counts: readonly number[], calls: number, part: number): number | undefined {
  let reached = 0;
  const place = counts.findIndex((count) => (reached += count) >= calls * part);
  return place < 0 ? undefined : durationLimitsMs[place];
}

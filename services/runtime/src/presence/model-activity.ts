import { create } from "@bufbuild/protobuf";
import type { ModelCalls } from "@reeve/contracts/worker-presence";
import { ModelCallsSchema } from "@reeve/contracts/worker-presence";
import type { EndedModelCall } from "@reeve/models/registry/ended-model-call";
import type { Clock } from "@reeve/platform/async/clock";

/** Calls are counted by the minute, for an hour. */
const intervalMs = 60_000;
const intervals = 60;
/** How many tenants and models are told apart. Calls of further ones are not counted. */
const maxKeys = 1_000;
/** How many rows are reported. */
const maxRows = 200;
const maxFailedRuns = 5;

/** Upper limits of durations, in milliseconds, as the contract of `ModelCalls.durations` documents them. */
const durationLimitsMs = [
  100, 250, 500, 1_000, 2_500, 5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 320_000,
];

interface Counts {
  calls: number;
  failures: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
  unpricedCalls: number;
  readonly durations: number[];
}

interface Counted {
  readonly tenant: string;
  readonly provider: string;
  readonly model: string;
  /** By the number of the interval since the epoch. */
  readonly byInterval: Map<number, Counts>;
  /** Newest first. */
  failedRunIds: readonly string[];
}

/** Counts the model calls and generations of media of this process in the last hour, by tenant and model. */
export class ModelActivity {
  readonly #clock: Pick<Clock, "now">;
  readonly #counted = new Map<string, Counted>();

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** Counts a call that has ended. Calls that no run makes do not count. */
  count({ model, owner, usage, durationMs }: EndedModelCall): void {
    if (owner === undefined) return;
    const { tenant, runId } = owner;
    const interval = Math.floor(this.#clock.now() / intervalMs);
    const counted = this.#of(tenant, model.provider, model.upstreamName);
    if (counted === undefined) return;
    const counts = counted.byInterval.get(interval) ?? noCounts();
    counted.byInterval.set(interval, counts);
    counts.calls++;
    const slower = durationLimitsMs.findIndex((limitMs) => durationMs <= limitMs);
    const place = slower < 0 ? durationLimitsMs.length : slower;
    counts.durations[place] = (counts.durations[place] ?? 0) + 1;
    if (usage === undefined) {
      counts.failures++;
      const others = counted.failedRunIds.filter((each) => each !== runId);
      counted.failedRunIds = [runId, ...others].slice(0, maxFailedRuns);
      return;
    }
    counts.inputTokens += usage.inputTokens;
    counts.outputTokens += usage.outputTokens;
    if (usage.costUsd === undefined) counts.unpricedCalls++;
    else counts.costUsd += usage.costUsd;
  }

  /** Returns the calls of the last hour: the rows with the most calls. */
  rows(): readonly ModelCalls[] {
    this.#dropOld();
    return [...this.#counted.values()]
      .map(rowOf)
      .toSorted((one, other) => other.calls - one.calls)
      .slice(0, maxRows);
  }

  #of(tenant: string, provider: string, model: string): Counted | undefined {
    const key = JSON.stringify([tenant, provider, model]);
    const known = this.#counted.get(key);
    if (known !== undefined) return known;
    if (this.#counted.size >= maxKeys) this.#dropOld();
    if (this.#counted.size >= maxKeys) return undefined;
    const counted = { tenant, provider, model, byInterval: new Map(), failedRunIds: [] };
    this.#counted.set(key, counted);
    return counted;
  }

  #dropOld(): void {
    const first = Math.floor(this.#clock.now() / intervalMs) - intervals + 1;
    for (const [key, { byInterval }] of this.#counted) {
      for (const interval of byInterval.keys()) if (interval < first) byInterval.delete(interval);
      if (byInterval.size === 0) this.#counted.delete(key);
    }
  }
}

function noCounts(): Counts {
  const durations = Array.from({ length: durationLimitsMs.length + 1 }, () => 0);
  return {
    calls: 0,
    failures: 0,
    inputTokens: 0,
    outputTokens: 0,
    costUsd: 0,
    unpricedCalls: 0,
    durations,
  };
}

function rowOf({ tenant, provider, model, byInterval, failedRunIds }: Counted): ModelCalls {
  const sum = noCounts();
  for (const counts of byInterval.values()) {
    sum.calls += counts.calls;
    sum.failures += counts.failures;
    sum.inputTokens += counts.inputTokens;
    sum.outputTokens += counts.outputTokens;
    sum.costUsd += counts.costUsd;
    sum.unpricedCalls += counts.unpricedCalls;
    for (const [place, count] of counts.durations.entries()) {
      sum.durations[place] = (sum.durations[place] ?? 0) + count;
    }
  }
  return create(ModelCallsSchema, {
    ...sum,
    tenant,
    provider,
    model,
    inputTokens: BigInt(sum.inputTokens),
    outputTokens: BigInt(sum.outputTokens),
    // The calls of these runs may have failed earlier than the ones that are counted.
    failedRunIds: sum.failures === 0 ? [] : [...failedRunIds],
  });
}

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Duration } from "@bufbuild/protobuf/wkt";
import { durationMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { CountRunsResponseSchema } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";

const maxIntervals = 500;

/** What is counted of a run. */
export interface CountedRun {
  readonly status: RunStatus;
  readonly createdMs: number;
  readonly costUsd: number;
}

/** What the counted runs of an interval add up to. */
interface Interval {
  runs: number;
  failed: number;
  costUsd: number;
}

/** Adds up runs by status and by the interval of time in which they were accepted. */
export class RunCounts {
  readonly #intervalMs: number | undefined;
  readonly #statuses = new Map<RunStatus, number>();
  readonly #intervals = new Map<number, Interval>();
  #costUsd = 0;

  /** Without an interval, runs are not counted by time. */
  constructor(interval: Duration | undefined) {
    this.#intervalMs = interval && durationMs(interval);
  }

  add({ status, createdMs, costUsd }: CountedRun): void {
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
    this.#costUsd += costUsd;
    if (this.#intervalMs === undefined) return;
    const startMs = createdMs - (createdMs % this.#intervalMs);
    const interval = this.#intervals.get(startMs) ?? { runs: 0, failed: 0, costUsd: 0 };
    interval.runs++;
    interval.costUsd += costUsd;
    if (status === RunStatus.ERROR) interval.failed++;
    this.#intervals.set(startMs, interval);
  }

  response(isPartial: boolean): MessageInitShape<typeof CountRunsResponseSchema> {
    const intervals = [...this.#intervals].toSorted(([a], [b]) => a - b).slice(-maxIntervals);
    return {
      statuses: [...this.#statuses].map(([status, count]) => ({ status, count })),
      costUsd: this.#costUsd,
      intervals: intervals.map(([startMs, sums]) => ({ start: timestampFromMs(startMs), ...sums })),
      isPartial,
    };
  }
}

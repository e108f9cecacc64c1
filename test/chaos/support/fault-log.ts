/** A fault that was injected into a process or into NATS. */
interface InjectedFault {
  readonly what: string;
  readonly target: string;
  readonly fromMs: number;
  toMs: number;
}

/** How long a fault can have consequences after it ends: calls of a silent process move to another one after a second. */
const aftermathMs = 5_000;

/** Targets whose faults affect every process. */
const sharedTargets: ReadonlySet<string> = new Set(["nats", "machine"]);
const tickMs = 100;
const lateMs = 250;

/** The log of all injected faults, with their times. */
export class FaultLog implements Disposable {
  readonly #faults: InjectedFault[] = [];
  readonly #watch: NodeJS.Timeout;

  /**
   * Also watches the machine: when this process gets no CPU time, the others are as silent as if they were stopped, although
   * no fault was injected.
   */
  constructor() {
    let lastMs = Date.now();
    this.#watch = setInterval(() => {
      const nowMs = Date.now();
      const isLate = nowMs - lastMs > tickMs + lateMs;
      if (isLate) {
        this.#faults.push({ what: "no CPU time", target: "machine", fromMs: lastMs, toMs: nowMs });
      }
      lastMs = nowMs;
    }, tickMs);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#watch);
  }

  /** Records the start of a fault. The returned function records its end. */
  begin(what: string, target: string): () => void {
    const fault = { what, target, fromMs: Date.now(), toMs: Number.POSITIVE_INFINITY };
    this.#faults.push(fault);
    return () => {
      fault.toMs = Date.now();
    };
  }

  /** Returns whether a fault affected a process (or NATS) in an interval or shortly before. */
  wasAffected(target: string, fromMs: number, toMs: number): boolean {
    return this.#faults.some(
      (fault) =>
        (fault.target === target || sharedTargets.has(fault.target)) &&
        fault.fromMs <= toMs &&
        fault.toMs + aftermathMs >= fromMs,
    );
  }

  /** Returns for how long of an interval no worker could get a run: NATS or Temporal was away, or every one of `workers`. */
  awayMs(workers: readonly string[], fromMs: number, toMs: number): number {
    const within = (ms: number) => Math.min(Math.max(ms, fromMs), toMs);
    const bounds = this.#faults.flatMap((fault) => [within(fault.fromMs), within(fault.toMs)]);
    const ordered = [fromMs, ...bounds, toMs].toSorted((a, b) => a - b);
    let awayMs = 0;
    for (const [index, endMs] of ordered.entries()) {
      const startMs = ordered[index - 1] ?? endMs;
      const isFaulty = (target: string) =>
        this.#faults.some(
          (fault) => fault.target === target && fault.fromMs <= startMs && endMs <= fault.toMs,
        );
      const isAway = isFaulty("nats") || isFaulty("temporal") || workers.every(isFaulty);
      if (isAway) awayMs += endMs - startMs;
    }
    return awayMs;
  }

  /** Returns the number of faults by kind and target. */
  counts(): Readonly<Record<string, Readonly<Record<string, number>>>> {
    const counts: Record<string, Record<string, number>> = {};
    for (const { what, target } of this.#faults) {
      const row = (counts[what] ??= {});
      row[target] = (row[target] ?? 0) + 1;
    }
    return counts;
  }

  /** The number of injected faults, without CPU shortages of the machine. */
  get total(): number {
    return this.#faults.filter(({ target }) => target !== "machine").length;
  }
}

/** Something that was done to a process or to NATS. */
interface Deed {
  readonly what: string;
  readonly target: string;
  readonly fromMs: number;
  toMs: number;
}

/** How long whatever was hurt may show it: work of a silent process goes to another one after a second. */
const aftermathMs = 5_000;

/** What hurts every process. */
const everybody: ReadonlySet<string> = new Set(["nats", "machine"]);
const tickMs = 100;
const lateMs = 250;

/** Everything that was done to the processes, and when. */
export class Damage implements Disposable {
  readonly #deeds: Deed[] = [];
  readonly #watch: NodeJS.Timeout;

  /**
   * Watches the machine as well: where even this process gets no time, others are as silent as if they were stopped, and
   * nobody has done that.
   */
  constructor() {
    let lastMs = Date.now();
    this.#watch = setInterval(() => {
      const nowMs = Date.now();
      const isLate = nowMs - lastMs > tickMs + lateMs;
      if (isLate) {
        this.#deeds.push({ what: "had no time", target: "machine", fromMs: lastMs, toMs: nowMs });
      }
      lastMs = nowMs;
    }, tickMs);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#watch);
  }

  /** Notes that something begins; what it returns, that it is over. */
  begin(what: string, target: string): () => void {
    const deed = { what, target, fromMs: Date.now(), toMs: Number.POSITIVE_INFINITY };
    this.#deeds.push(deed);
    return () => {
      deed.toMs = Date.now();
    };
  }

  /** Whether a process, or NATS under it, was hurt in that time or shortly before. */
  hurt(target: string, fromMs: number, toMs: number): boolean {
    return this.#deeds.some(
      (deed) =>
        (deed.target === target || everybody.has(deed.target)) &&
        deed.fromMs <= toMs &&
        deed.toMs + aftermathMs >= fromMs,
    );
  }

  /** How often each thing was done to each target. */
  counts(): Readonly<Record<string, Readonly<Record<string, number>>>> {
    const counts: Record<string, Record<string, number>> = {};
    for (const { what, target } of this.#deeds) {
      const row = (counts[what] ??= {});
      row[target] = (row[target] ?? 0) + 1;
    }
    return counts;
  }

  /** How much was done, without what nobody did. */
  get total(): number {
    return this.#deeds.filter(({ target }) => target !== "machine").length;
  }
}

/** Something that was done to a process or to NATS. */
interface Deed {
  readonly what: string;
  readonly target: string;
  readonly fromMs: number;
  toMs: number;
}

/** How long whatever was hurt may show it: work of a silent process goes to another one after a second. */
const aftermathMs = 5_000;

/** Everything that was done to the processes, and when. */
export class Damage {
  readonly #deeds: Deed[] = [];

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
        (deed.target === target || deed.target === "nats") &&
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

  get total(): number {
    return this.#deeds.length;
  }
}

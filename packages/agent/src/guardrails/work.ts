/** The most steps of one search, which nothing interrupts: about 50 ms. */
const maxStepsAtOnce = 1_000_000;
/** The most steps of a check, over all of its expressions and texts: about half a second. */
const maxSteps = 10_000_000;

/** What one check of a guard may do. A step is what an expression does for one character of a text, for each part of its program. */
export class Work {
  #left = maxSteps;
  #sincePause = 0;

  /** Whether a search of an expression with so many steps at most is possible; if so, they are used. */
  affords(steps: number): boolean {
    if (steps > maxStepsAtOnce || steps > this.#left) return false;
    this.#left -= steps;
    return true;
  }

  /** Counts steps that were done. Returns whether other work is to go on before the next ones. */
  passes(steps: number): boolean {
    this.#sincePause += steps;
    if (this.#sincePause < maxStepsAtOnce / 2) return false;
    this.#sincePause = 0;
    return true;
  }
}

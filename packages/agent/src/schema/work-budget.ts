/** A bound on what one validation may do, whatever schema and arguments come together. */
export class WorkBudget {
  readonly #most: number;
  #left: number;

  constructor(most: number) {
    this.#most = most;
    this.#left = most;
  }

  /** A validation begins. */
  reset(): void {
    this.#left = this.#most;
  }

  /** Throws TooMuchWork once the validation has done more than it may. */
  spend(units: number): void {
    this.#left -= units;
    if (this.#left < 0) throw new WorkBudgetExceeded("the validation takes too much work");
  }
}

export class WorkBudgetExceeded extends Error {
  override readonly name = "TooMuchWork";
}

/** A limit on the work of one validation, whatever the schema and the arguments are. */
export class WorkBudget {
  readonly #max: number;
  #remaining: number;

  constructor(max: number) {
    this.#max = max;
    this.#remaining = max;
  }

  /** Makes the whole budget available to the next validation. */
  reset(): void {
    this.#remaining = this.#max;
  }

  /** Whether more work was asked for than there was. */
  get isExceeded(): boolean {
    return this.#remaining < 0;
  }

  /** Counts work. Throws WorkBudgetExceeded when the validation exceeds its limit. */
  spend(units: number): void {
    this.#remaining -= units;
    if (this.#remaining < 0) throw new WorkBudgetExceeded("the validation takes too much work");
  }
}

export class WorkBudgetExceeded extends Error {
  override readonly name = "WorkBudgetExceeded";
}

import { Failure } from "../failure.ts";

/** Collects what is wrong with several inputs of a process, so that one error reports all of it. */
export class CollectedFailures {
  readonly #failures: Failure[] = [];

  /** Returns what `open` returns. Keeps a Failure of kind `invalid`, and returns undefined then; throws any other error. */
  async collect<Value>(open: () => Promise<Value> | Value): Promise<Value | undefined> {
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== "invalid") throw error;
      this.#failures.push(error);
      return undefined;
    }
  }

  /** Throws what was collected: the only Failure itself, or one with the messages and violations of all. */
  assertNone(): void {
    const [first, ...others] = this.#failures;
    if (first === undefined) return;
    if (others.length === 0) throw first;
    const message = this.#failures.map((each) => each.message).join("\n");
    const violations = this.#failures.flatMap((each) => each.violations);
    throw new Failure("invalid", first.reason, message, { violations, cause: first });
  }
}

/** Returns what was collected. Only after `assertNone`, which throws if it is missing. */
export function collected<Value>(value: Value | undefined): Value {
  if (value !== undefined) return value;
  throw new TypeError("a value is missing although nothing was wrong");
}

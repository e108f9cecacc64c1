import type { Reporter, TestModule } from "vitest/node";

/** How many tests ended in which way. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/**
 * A vitest reporter that counts tests. A file that could not be loaded, a hook that failed outside of a test, and an error
 * that no test caught each count as one failed test, so that a broken run never looks like a success. A test that passed
 * only when it was retried counts as failed: no test may hide behind a retry.
 */
export class TallyReporter implements Reporter {
  #tally: Tally = { passed: 0, failed: 0, skipped: 0 };

  get tally(): Tally {
    return this.#tally;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const states = tests.map((test) =>
      test.diagnostic()?.flaky === true ? "failed" : test.result().state,
    );
    const suites = modules.flatMap((module) => [module, ...module.children.allSuites()]);
    const broken = suites.filter((suite) => suite.errors().length > 0).length;
    this.#tally = {
      passed: states.filter((state) => state === "passed").length,
      // A test without a result was interrupted.
      failed:
        states.filter((state) => state === "failed" || state === "pending").length +
        broken +
        unhandledErrors.length,
      skipped: states.filter((state) => state === "skipped").length,
    };
  }
}

/** Renders the last line of `npm test`. */
export function renderTally({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

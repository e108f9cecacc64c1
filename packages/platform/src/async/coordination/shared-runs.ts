/**
 * Runs an action on behalf of all callers that wait for it. Each caller gets the outcome of a run that began after its call. At
 * most one run is active, and at most one waits for it to end.
 */
export class SharedRuns {
  readonly #action: () => Promise<void>;
  #active: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(action: () => Promise<void>) {
    this.#action = action;
  }

  run(): Promise<void> {
    if (this.#active === undefined) return this.#start();
    this.#next ??= this.#startAfter(this.#active);
    return this.#next;
  }

  async #startAfter(active: Promise<void>): Promise<void> {
    await Promise.allSettled([active]);
    this.#next = undefined;
    await this.#start();
  }

  #start(): Promise<void> {
    const run = this.#action().finally(() => {
      if (this.#active === run) this.#active = undefined;
    });
    this.#active = run;
    return run;
  }
}

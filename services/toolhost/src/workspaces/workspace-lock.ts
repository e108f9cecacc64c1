import { abortable } from "@reeve/platform/async/abortable";

/**
 * Lets either any number of commands write to a workspace, or one call use it alone. A call that waits to be alone comes
 * before commands that arrive later. A holder returns its place by calling the function that it got.
 */
export class WorkspaceLock {
  #writers = 0;
  #isTaken = false;
  readonly #waiting: { readonly alone: boolean; readonly ready: PromiseWithResolvers<void> }[] = [];

  /** Resolves when the command may write. */
  async write(signal: AbortSignal): Promise<() => void> {
    await this.#enter(false, signal);
    return once(() => {
      this.#writers--;
      this.#admit();
    });
  }

  /** Resolves when nothing else writes. */
  async takeAlone(signal: AbortSignal): Promise<() => void> {
    await this.#enter(true, signal);
    return once(() => {
      this.#isTaken = false;
      this.#admit();
    });
  }

  async #enter(alone: boolean, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const place = { alone, ready: Promise.withResolvers<void>() };
    this.#waiting.push(place);
    this.#admit();
    try {
      await abortable(place.ready.promise, signal);
    } catch (error) {
      const index = this.#waiting.indexOf(place);
      if (index >= 0) this.#waiting.splice(index, 1);
      // It was admitted while it was aborted.
      else this.#leave(alone);
      this.#admit();
      throw error;
    }
  }

  #leave(alone: boolean): void {
    if (alone) this.#isTaken = false;
    else this.#writers--;
  }

  #admit(): void {
    for (;;) {
      const next = this.#waiting[0];
      if (next === undefined || this.#isTaken || (next.alone && this.#writers > 0)) return;
      this.#waiting.shift();
      if (next.alone) this.#isTaken = true;
      else this.#writers++;
      next.ready.resolve();
    }
  }
}

function once(leave: () => void): () => void {
  let hasLeft = false;
  return () => {
    if (hasLeft) return;
    hasLeft = true;
    leave();
  };
}

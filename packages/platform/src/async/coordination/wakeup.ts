import { onAbort } from "../on-abort.ts";

/**
 * Wakes one waiting party. A notification that comes while no party waits is kept for the next wait; any number of them count
 * as one.
 */
export class Wakeup {
  #isNotified = false;
  #wake: (() => void) | undefined;
  #bound: AbortSignal | undefined;
  #abort: (() => void) | undefined;

  notify(): void {
    this.#isNotified = true;
    this.#wake?.();
  }

  /** Resolves when there was a notification since the last wait. Rejects with the signal's reason. */
  async wait(signal: AbortSignal): Promise<void> {
    await this.#wait(undefined, signal);
  }

  /**
   * Waits for `timeoutMs` at most, and returns whether there was a notification since the last wait. Rejects with the
   * signal's reason.
   */
  waitFor(timeoutMs: number, signal: AbortSignal): Promise<boolean> {
    return this.#wait(timeoutMs, signal);
  }

  /**
   * Listens to a signal with which many waits follow, until the returned object is disposed: each of them would add a listener
   * and remove it, which costs more than the rest of a wait.
   */
  bind(signal: AbortSignal): Disposable {
    const listening = onAbort(signal, () => this.#abort?.());
    this.#bound = signal;
    return {
      [Symbol.dispose]: () => {
        this.#bound = undefined;
        listening[Symbol.dispose]();
      },
    };
  }

  #wait(timeoutMs: number | undefined, signal: AbortSignal): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    if (signal.aborted) reject(signal.reason);
    else if (this.#isNotified) resolve(this.#take());
    else if (this.#wake === undefined) this.#listen(timeoutMs, signal, { resolve, reject });
    else reject(new Error("another party already waits for this wakeup"));
    return promise;
  }

  #listen(
    timeoutMs: number | undefined,
    signal: AbortSignal,
    { resolve, reject }: Pick<PromiseWithResolvers<boolean>, "resolve" | "reject">,
  ): void {
    const end = () => {
      clearTimeout(timer);
      listening?.[Symbol.dispose]();
      this.#wake = undefined;
      this.#abort = undefined;
    };
    const expire = () => {
      end();
      resolve(this.#take());
    };
    const wake = () => {
      end();
      // Those that come before the party continues count with this one.
      queueMicrotask(() => this.#take());
      resolve(true);
    };
    const abort = () => {
      end();
      reject(signal.reason);
    };
    this.#wake = wake;
    const timer = timeoutMs === undefined ? undefined : setTimeout(expire, timeoutMs);
    const isBound = signal === this.#bound;
    if (isBound) this.#abort = abort;
    const listening = isBound ? undefined : onAbort(signal, abort);
  }

  /** Returns whether there was a notification since the last wait. */
  #take(): boolean {
    const isNotified = this.#isNotified;
    this.#isNotified = false;
    return isNotified;
  }
}

import type { Clock } from "./clock.ts";
import { steadyClock } from "./clock.ts";

export interface IdleTimeoutOptions {
  /** How long the watched work may be silent. */
  readonly timeoutMs: number;
  /** Creates the reason with which the signal aborts. Default: a DOMException named TimeoutError. */
  reason?(): unknown;
  /** Default: monotonic time. */
  readonly clock?: Clock;
}

/** One for all: an exception for each timer would cost its stack. */
const timerCancelled = new DOMException("the timer was cancelled", "AbortError");

/**
 * Aborts a signal when nothing was heard for a time. Starts at once. Call `restart` whenever something is heard: that costs
 * next to nothing. Dispose it when the watched work has ended.
 */
export class IdleTimeout implements Disposable {
  /** Aborts on the timeout, or when the constructor's signal aborts. */
  readonly signal: AbortSignal;
  readonly #expired = new AbortController();
  readonly #clock: Clock;
  readonly #reason: () => unknown;
  #timeoutMs: number;
  #deadlineMs = 0;
  #timer: { readonly atMs: number; readonly end: AbortController } | undefined;
  /** How many promises suspend the timeout; a disposed one stays suspended. */
  #suspensions = 0;

  constructor({ timeoutMs, reason, clock = steadyClock }: IdleTimeoutOptions, signal: AbortSignal) {
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
    this.#reason = reason ?? (() => this.#defaultReason());
    this.signal = AbortSignal.any([signal, this.#expired.signal]);
    this.restart();
  }

  /** Whether nothing was heard for too long, as opposed to an abort from outside. */
  get isExpired(): boolean {
    return this.#expired.signal.aborted;
  }

  /** Starts the time again, also after `pause`. `timeoutMs` replaces the time from now on. */
  restart(timeoutMs: number = this.#timeoutMs): void {
    this.#timeoutMs = timeoutMs;
    if (this.isExpired || this.#suspensions > 0) return;
    this.#deadlineMs = this.#clock.now() + timeoutMs;
    // A timer that fires too early looks at the deadline, and starts again.
    if (this.#timer === undefined || this.#timer.atMs > this.#deadlineMs) this.#startTimer();
  }

  /** Stops the time until `restart`. */
  pause(): void {
    this.#timer?.end.abort(timerCancelled);
    this.#timer = undefined;
  }

  /** Stops the time until `promise` settles, and then starts it again. Settles as `promise` does. */
  async suspendWhile<Result>(promise: Promise<Result>): Promise<Result> {
    this.#suspensions++;
    this.pause();
    try {
      return await promise;
    } finally {
      this.#suspensions--;
      this.restart();
    }
  }

  /** Stops the time for good. The signal does not abort any more because of it. */
  [Symbol.dispose](): void {
    this.#suspensions++;
    this.pause();
  }

  #startTimer(): void {
    this.pause();
    const timer = { atMs: this.#deadlineMs, end: new AbortController() };
    this.#timer = timer;
    this.#clock.sleep(timer.atMs - this.#clock.now(), timer.end.signal).then(
      () => this.#fired(timer),
      () => undefined,
    );
  }

  #fired(timer: object): void {
    // It may have been cancelled at the moment at which it fired.
    if (this.#timer !== timer) return;
    this.#timer = undefined;
    if (this.#clock.now() < this.#deadlineMs) this.#startTimer();
    else this.#expired.abort(this.#reason());
  }

  #defaultReason(): DOMException {
    return new DOMException(`nothing was heard for ${this.#timeoutMs} ms`, "TimeoutError");
  }
}

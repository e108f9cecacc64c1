/** Ends something that hears nothing for a while, apart from the times in which nobody listens. */
export class Silence {
  readonly signal: AbortSignal;
  readonly #maxMs: number;
  readonly #end = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  /** Listens at once. Its signal aborts with `signal` as well. */
  constructor(maxMs: number, signal: AbortSignal) {
    this.#maxMs = maxMs;
    this.signal = AbortSignal.any([signal, this.#end.signal]);
    this.listen();
  }

  /** Whether nothing was heard for too long. */
  get isOver(): boolean {
    return this.#end.signal.aborted;
  }

  listen(): void {
    const end = () => this.#end.abort(new DOMException("nothing was heard", "TimeoutError"));
    this.#timer = setTimeout(end, this.#maxMs);
  }

  pause(): void {
    clearTimeout(this.#timer);
  }
}

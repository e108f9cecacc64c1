/** Aborts when nothing was heard for a while; people who are asked may take their time. */
export class Silence implements Disposable {
  readonly #end = new AbortController();
  readonly #longestMs: number;
  #timer: NodeJS.Timeout | undefined;
  #waiting = 0;

  constructor(longestMs: number) {
    this.#longestMs = longestMs;
    this.heard();
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** Something was heard: the time begins anew. */
  heard(): void {
    clearTimeout(this.#timer);
    if (this.#waiting > 0) return;
    const give = () => this.#end.abort(new DOMException("nothing was heard", "TimeoutError"));
    this.#timer = setTimeout(give, this.#longestMs);
  }

  /** The time stands still until the promise is settled. */
  async except<Result>(promise: Promise<Result>): Promise<Result> {
    this.#waiting++;
    clearTimeout(this.#timer);
    try {
      return await promise;
    } finally {
      this.#waiting--;
      this.heard();
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#waiting++;
  }
}

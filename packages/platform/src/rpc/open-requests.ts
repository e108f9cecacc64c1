import type { HttpHandler } from "./rpc-handler.ts";

/** The requests that a handler was given and has not answered. */
export class OpenRequests {
  readonly #waiting = new Set<() => void>();
  #open = 0;

  /** `handler`, with its requests counted. */
  counted(handler: HttpHandler): HttpHandler {
    return (request, response) => {
      this.#open += 1;
      response.once("close", () => this.#closed());
      handler(request, response);
    };
  }

  /** Resolves when there are none, and at the latest when `signal` aborts. */
  async untilNone(signal: AbortSignal): Promise<void> {
    if (this.#open === 0 || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    signal.addEventListener("abort", () => resolve(), { once: true });
    await promise;
  }

  #closed(): void {
    this.#open -= 1;
    if (this.#open > 0) return;
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

import { abortable } from "../../async/abortable.ts";
import type { HttpHandler } from "./http-handler.ts";

/** Counts the requests that a handler has received and not yet answered. */
export class OpenRequests {
  readonly #waiting = new Set<() => void>();
  #open = 0;

  /** Returns `handler` with its requests counted. */
  counted(handler: HttpHandler): HttpHandler {
    return (request, response) => {
      this.#open += 1;
      response.once("close", () => this.#closed());
      handler(request, response);
    };
  }

  /** Resolves when no request is open, and at the latest when `signal` aborts. */
  async untilNone(signal: AbortSignal): Promise<void> {
    if (this.#open === 0 || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    await abortable(promise, signal).catch(() => undefined);
    this.#waiting.delete(resolve);
  }

  #closed(): void {
    this.#open -= 1;
    if (this.#open > 0) return;
    for (const resolve of this.#waiting) resolve();
  }
}

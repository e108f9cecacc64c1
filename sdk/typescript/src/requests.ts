import type { Settings } from "./client-options.ts";
import type { Connection, Services } from "./connection.ts";
import { openConnection } from "./connection.ts";
import type { CallOptions, ListOptions } from "./call-options.ts";
import type { Page, PageRequest } from "./pages.ts";
import { allPages } from "./pages.ts";
import type { ConnectionSource } from "./watch/live-stream.ts";
import { ReeveError } from "./reeve-error.ts";
import { retry } from "./retry.ts";

/** Time limit and signal of one attempt, as the generated services take them. */
export interface Call {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** Sends a request through the generated services. */
type Request<Response> = (services: Services, call: Call) => Promise<Response>;

/** Sends the requests of a client over its current connection, with its time limits. Every error is a ReeveError. */
export class Requests implements ConnectionSource<Services>, Disposable {
  readonly settings: Settings;
  #connection: Connection;
  #isClosed = false;

  constructor(settings: Settings) {
    this.settings = settings;
    this.#connection = openConnection(settings);
  }

  /** Throws a ReeveError after the client was closed, because its session would open another connection. */
  get current(): Services {
    if (this.#isClosed) throw ReeveError.closed();
    return this.#connection;
  }

  /** Opens a new connection in place of a silent one. Other calls on the silent connection fail; watches resume. */
  replace(silent: unknown): void {
    if (silent !== this.#connection || this.#isClosed) return;
    const { [Symbol.dispose]: close } = this.#connection;
    this.#connection = openConnection(this.settings);
    close();
  }

  /** Sends a request that is safe to repeat. */
  async repeatable<Response>(
    request: Request<Response>,
    { signal }: CallOptions,
    requestTimeoutMs = this.settings.requestTimeoutMs,
  ): Promise<Response> {
    return await retry(
      (timeoutMs) => request(this.current, callOf(timeoutMs, signal)),
      { ...this.settings, requestTimeoutMs },
      signal,
    );
  }

  /** Sends a request once, because a repetition could have a second effect. */
  async once<Response>(
    request: Request<Response>,
    { signal }: CallOptions,
    timeoutMs = this.settings.requestTimeoutMs,
  ): Promise<Response> {
    try {
      return await request(this.current, callOf(timeoutMs, signal));
    } catch (error) {
      signal?.throwIfAborted();
      throw ReeveError.from(error);
    }
  }

  /** Yields the items of a list. */
  list<Item>(
    page: (services: Services, request: PageRequest, call: Call) => Promise<Page<Item>>,
    { limit, signal }: ListOptions,
  ): AsyncGenerator<Item, void, undefined> {
    const options = signal === undefined ? {} : { signal };
    return allPages(
      (request) => this.repeatable((services, call) => page(services, request, call), options),
      limit,
    );
  }

  /** Yields the messages of a stream. Ends the stream when the caller leaves the loop. `timeoutMs` 0 means no time limit. */
  async *stream<Message>(
    open: (services: Services, call: Call) => AsyncIterable<Message>,
    { signal }: CallOptions,
    timeoutMs: number,
  ): AsyncGenerator<Message, void, undefined> {
    const leaving = new AbortController();
    const signals = signal === undefined ? [leaving.signal] : [leaving.signal, signal];
    const call = callOf(timeoutMs, AbortSignal.any(signals));
    const messages = open(this.current, call)[Symbol.asyncIterator]();
    let isDone = false;
    try {
      for (;;) {
        const next = await messages.next();
        isDone = next.done === true;
        if (next.done === true) return;
        yield next.value;
      }
    } catch (error) {
      isDone = true;
      signal?.throwIfAborted();
      throw ReeveError.from(error);
    } finally {
      // A generated stream has no return(). It ends when its signal aborts, and clears its timer in the next call of next().
      leaving.abort();
      if (!isDone) await messages.next().catch(() => undefined);
    }
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#connection[Symbol.dispose]();
  }
}

function callOf(timeoutMs: number, signal: AbortSignal | undefined): Call {
  return { timeoutMs, ...(signal && { signal }) };
}

import { setTimeout as wait } from "node:timers/promises";
import { Code } from "@connectrpc/connect";
import type { Settings } from "../client-options.ts";
import { ReeveError } from "../reeve-error.ts";
import { delayBeforeRetry } from "../retry.ts";

/** The current connection of a client. */
export interface ConnectionSource<Services> {
  readonly current: Services;
  /** Replaces a connection that has been silent for too long. */
  replace(silent: Services): void;
}

export type LiveLimits = Pick<Settings, "idleTimeoutMs" | "reconnectTimeoutMs" | "token">;

/** Options of a stream that outlives its connections. */
export interface LiveOptions {
  /** Called each time the connection is lost, before the watch reconnects. */
  readonly onConnectionLost?: (error: ReeveError) => void;
  readonly signal?: AbortSignal;
}

/** How a stream is opened, each time from where the caller is by then. */
interface LiveStream<Services, Message> {
  /** What is streamed, as errors name it. */
  readonly name: string;
  readonly open: (
    services: Services,
    call: { readonly signal: AbortSignal },
  ) => AsyncIterable<Message>;
}

/**
 * Yields the messages of a stream that the server never ends by itself, over any number of connections: the caller leaves the loop when it has
 * everything. Throws a ReeveError if the server refuses, or if nothing is received for `reconnectTimeoutMs`.
 */
export async function* liveStream<Services, Message>(
  source: ConnectionSource<Services>,
  stream: LiveStream<Services, Message>,
  { idleTimeoutMs, reconnectTimeoutMs, token }: LiveLimits,
  { signal, onConnectionLost }: LiveOptions,
): AsyncGenerator<Message, void, undefined> {
  const isRenewed = typeof token === "function";
  let deadline = performance.now() + reconnectTimeoutMs;
  for (let failures = 1; ; failures++) {
    try {
      for await (const message of messagesOf(source, stream, idleTimeoutMs, signal)) {
        failures = 0;
        yield message;
        deadline = performance.now() + reconnectTimeoutMs;
      }
      throw ReeveError.lost(`the stream of ${stream.name} ended early`);
    } catch (thrown) {
      signal?.throwIfAborted();
      const error = ReeveError.from(thrown);
      // A token that was accepted for this stream has ended, and the next stream has another one.
      if (failures === 0 && error.code === Code.Unauthenticated && isRenewed) continue;
      const delayMs = delayBeforeRetry(error, Math.max(1, failures), deadline);
      onConnectionLost?.(error);
      await wait(delayMs, undefined, signal && { signal });
    }
  }
}

/** Yields the messages of one stream. Ends the stream when the caller leaves the loop. */
async function* messagesOf<Services, Message>(
  source: ConnectionSource<Services>,
  { name, open }: LiveStream<Services, Message>,
  idleTimeoutMs: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Message, void, undefined> {
  const connection = source.current;
  const leaving = new AbortController();
  const ends = signal === undefined ? [leaving.signal] : [signal, leaving.signal];
  const messages = open(connection, { signal: AbortSignal.any(ends) })[Symbol.asyncIterator]();
  const silent = ReeveError.lost(`the stream of ${name} was silent for ${idleTimeoutMs} ms`);
  try {
    for (;;) {
      const timer = setTimeout(() => leaving.abort(silent), idleTimeoutMs);
      const next = await messages.next().finally(() => clearTimeout(timer));
      if (next.done === true) return;
      yield next.value;
    }
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
    source.replace(connection);
    throw silent;
  } finally {
    leaving.abort();
  }
}

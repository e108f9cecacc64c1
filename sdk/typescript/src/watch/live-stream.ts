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
  /**
   * Whether a first message only says that the server has accepted the stream. It does not count as received: a server that fails after
   * each one is unavailable.
   */
  readonly isOpening?: (message: Message) => boolean;
  /** Whether the stream may be opened again after an error that is permanent for a single request. Default: it may not. */
  readonly isPassing?: (error: ReeveError) => boolean;
}

/**
 * Yields the messages of a stream over any number of connections, until the caller leaves the loop. A stream that ends before that counts
 * as a lost connection. Throws a ReeveError if the server refuses, or if nothing is received for `reconnectTimeoutMs`.
 */
export async function* liveStream<Services, Message>(
  source: ConnectionSource<Services>,
  stream: LiveStream<Services, Message>,
  { idleTimeoutMs, reconnectTimeoutMs, token }: LiveLimits,
  { signal, onConnectionLost }: LiveOptions,
): AsyncGenerator<Message, void, undefined> {
  const isRenewed = typeof token === "function";
  let deadline = performance.now() + reconnectTimeoutMs;
  /** Whether an expired token may be replaced without a delay: once after a stream that was only accepted, and after each received message. */
  let mayRenew = true;
  for (let failures = 1; ; failures++) {
    let isAccepted = false;
    try {
      for await (const message of messagesOf(source, stream, idleTimeoutMs, signal)) {
        const isProgress = isAccepted || stream.isOpening?.(message) !== true;
        isAccepted = true;
        if (isProgress) failures = 0;
        yield message;
        if (isProgress) [deadline, mayRenew] = [performance.now() + reconnectTimeoutMs, true];
      }
      throw ReeveError.lost(`the stream of ${stream.name} ended early`);
    } catch (thrown) {
      signal?.throwIfAborted();
      const error = ReeveError.from(thrown);
      // A token that was accepted for this stream has ended, and the next stream has another one.
      if (isAccepted && mayRenew && error.code === Code.Unauthenticated && isRenewed) {
        mayRenew = failures === 0;
        continue;
      }
      const isTransient = error.isTransient || stream.isPassing?.(error) === true;
      const delayMs = delayBeforeRetry(error, Math.max(1, failures), deadline, { isTransient });
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

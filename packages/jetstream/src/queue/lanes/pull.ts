import type { Msg, NatsConnection, Subscription } from "@nats-io/transport-node";
import { createInbox, nanos } from "@nats-io/transport-node";
import { bootClock } from "@reeve/platform/async/boot-clock";
import { connectionStateOf } from "@reeve/platform/nats/connection-state";
import { inboxPrefixesOf } from "@reeve/platform/nats/inbox";
import { PulledMessage } from "./pulled-message.ts";

/** How long a pull that waits does so. Short, so that the pull of a paused process does not swallow redeliveries. */
export const pullMs = 1_500;
/** How long after its end a pull may still receive messages in a process that runs. */
export const pullGraceMs = 500;

const noMessages = 404;
const timedOut = 408;

/** How a pull ended: all messages came; the consumer had no more of them; or it is not known to work. */
export type PullEnd = "filled" | "empty" | "failed";

export interface PullOptions {
  readonly stream: string;
  readonly consumer: string;
  /** Max number of messages. */
  readonly batch: number;
  /** Whether the pull waits for messages, for `pullMs`. */
  readonly waits: boolean;
  readonly onMessage: (message: PulledMessage, pulledAt: number) => void;
  /** Called once, unless the pull could not be sent. Then the pull receives nothing more. */
  readonly onEnd: (end: PullEnd) => void;
}

/**
 * Asks a consumer for messages. Each pull has an inbox of its own: a server that still has the request after the end of the
 * pull finds that nobody listens, and keeps its messages.
 */
export function pull(connection: NatsConnection, options: PullOptions): void {
  const { stream, consumer, batch, waits, onMessage, onEnd } = options;
  const inbox = createInbox(inboxPrefixesOf(connection).store);
  const pulledAt = bootClock.now();
  let left = batch;
  let subscription: Subscription | undefined;
  const end = (how: PullEnd) => {
    clearTimeout(timer);
    if (subscription?.isClosed() === false) subscription.unsubscribe();
    if (left < 0) return;
    left = -1;
    onEnd(how);
  };
  const receive = (error: Error | null, message: Msg) => {
    if (error !== null) return end("failed");
    const code = statusOf(message);
    if (code !== undefined) return end(endOf(code));
    left -= 1;
    onMessage(new PulledMessage(message), pulledAt);
    if (left === 0) end("filled");
  };
  const limitMs = pullMs + pullGraceMs;
  const expire = () => {
    // A process that stood still first reads what came meanwhile.
    const isLate = bootClock.now() - pulledAt > limitMs + pullGraceMs;
    if (isLate && !isExtended) {
      isExtended = true;
      timer = setTimeout(expire, pullGraceMs);
    } else end("failed");
  };
  let isExtended = false;
  let timer = setTimeout(expire, limitMs);
  const request = waits ? { batch, expires: nanos(pullMs) } : { batch, no_wait: true };
  const subject = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`;
  try {
    if (!connectionStateOf(connection).isUp) return end("failed");
    subscription = connection.subscribe(inbox, { callback: receive });
    connection.publish(subject, JSON.stringify(request), { reply: inbox });
  } catch {
    end("failed");
  }
}

/** Returns the status of a message that only says something about its pull. */
function statusOf({ data, headers }: Msg): number | undefined {
  const code = headers?.code ?? 0;
  return code === 0 || data.length > 0 ? undefined : code;
}

function endOf(code: number): PullEnd {
  return code === noMessages || code === timedOut ? "empty" : "failed";
}

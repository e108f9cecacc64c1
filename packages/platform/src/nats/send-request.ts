import type { NatsConnection } from "@nats-io/transport-node";
import { createInbox } from "@nats-io/transport-node";
import { inboxPrefixesOf, replyPrefix } from "./inbox.ts";

/** The outcome of a request: a reply, a subject without subscribers, or no reply in time. */
export type RequestOutcome =
  | { readonly kind: "reply"; readonly data: Uint8Array }
  | { readonly kind: "no_responders" }
  | { readonly kind: "no_reply" };

/** Sends a request to another service. A lost connection counts as `no_reply`. Throws only the signal's reason. */
export async function sendRequest(
  connection: NatsConnection,
  subject: string,
  { data, timeoutMs }: { readonly data: Uint8Array; readonly timeoutMs: number },
  signal: AbortSignal,
): Promise<RequestOutcome> {
  signal.throwIfAborted();
  try {
    const inbox = createInbox(replyPrefix(inboxPrefixesOf(connection), subject));
    const options = { timeout: timeoutMs, noMux: true, reply: inbox };
    const reply = await connection.request(subject, data, options);
    signal.throwIfAborted();
    return { kind: "reply", data: reply.data };
  } catch (error) {
    signal.throwIfAborted();
    const hasNoResponders =
      error instanceof Error && /no responders/i.test(`${error.name} ${error.message}`);
    return { kind: hasNoResponders ? "no_responders" : "no_reply" };
  }
}

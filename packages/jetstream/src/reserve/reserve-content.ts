import type { NatsConnection } from "@nats-io/transport-node";
import { requestClientOf } from "@reeve/platform/nats/request-client";
import { reserveStream } from "./reserve-state.ts";

interface Content {
  readonly messages: number;
  /** The sequence of the last content that anybody wrote, even if it was removed since. */
  readonly last_seq: number;
}

/** Returns what the stream of the reserve has; undefined if the store does not say. */
export async function reserveContent(connection: NatsConnection): Promise<Content | undefined> {
  const subject = `$JS.API.STREAM.INFO.${reserveStream}`;
  const reply = await requestClientOf(connection)
    .send(subject, {})
    .catch(() => undefined);
  return reply?.json<{ readonly state?: Content }>().state;
}

import type { Msg, MsgHdrs, NatsConnection } from "@nats-io/transport-node";
import type { RequestClient } from "@reeve/platform/nats/request-client";
import { requestClientOf } from "@reeve/platform/nats/request-client";
import type { ApiError } from "./errors.ts";

/** What a stream said to a message: stored at this place, refused, or nothing in time. */
export type PublishOutcome =
  | { readonly kind: "stored"; readonly sequence: number }
  | { readonly kind: "refused"; readonly refusal: ApiError }
  | { readonly kind: "unanswered" };

/** Publishes to the streams of a connection, and says what they answered. */
export class StreamPublisher {
  readonly #requests: RequestClient;

  constructor(connection: NatsConnection) {
    this.#requests = requestClientOf(connection);
  }

  /** Never rejects. What comes while the connection is lost is not sent at all. */
  async publish(subject: string, data: Uint8Array, headers: MsgHdrs): Promise<PublishOutcome> {
    return replyOf(await this.#requests.send(subject, { data, headers }));
  }
}

function replyOf(message: Msg | undefined): PublishOutcome {
  if (message === undefined || message.data.length === 0) return { kind: "unanswered" };
  const answer = message.json<{
    readonly error?: ApiError;
    readonly seq?: number;
  }>();
  if (answer.error !== undefined) return { kind: "refused", refusal: answer.error };
  return answer.seq === undefined
    ? { kind: "unanswered" }
    : { kind: "stored", sequence: answer.seq };
}

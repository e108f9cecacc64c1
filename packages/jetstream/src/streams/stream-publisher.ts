import type { Msg, MsgHdrs, NatsConnection } from "@nats-io/transport-node";
import type { RequestClient } from "@reeve/platform/nats/request-client";
import { requestClientOf } from "@reeve/platform/nats/request-client";
import { refusedForReserve, writeWithReserve } from "../reserve/spend-reserve.ts";
import type { ApiError } from "./errors.ts";

/** What a stream did with a message: stored it under a sequence, refused it, or did not answer in time. */
export type PublishOutcome =
  | { readonly kind: "stored"; readonly sequence: number }
  | { readonly kind: "refused"; readonly error: ApiError }
  | { readonly kind: "unanswered" };

export interface PublishOptions {
  /**
   * Whether the message may use the reserve of a full store: only what cancels, decides, ends, or deletes, and is small. Another
   * message is refused while the reserve is in use, although the store may have room for it.
   */
  readonly usesReserve: boolean;
}

/** Publishes to the streams of a connection and returns their answers. */
export class StreamPublisher {
  readonly #connection: NatsConnection;
  readonly #requests: RequestClient;

  constructor(connection: NatsConnection) {
    this.#connection = connection;
    this.#requests = requestClientOf(connection);
  }

  /** Publishes a message. Rejects as `RequestClient.send` does. Sends nothing while the connection is lost. */
  async publish(
    subject: string,
    data: Uint8Array,
    headers: MsgHdrs,
    { usesReserve }: PublishOptions,
  ): Promise<PublishOutcome> {
    const publish = async () => outcomeOf(await this.#requests.send(subject, { data, headers }));
    if (!usesReserve) {
      const error = refusedForReserve(this.#connection);
      return error === undefined ? await publish() : { kind: "refused", error };
    }
    return await writeWithReserve(this.#connection, publish, (outcome) =>
      outcome.kind === "refused" ? outcome.error : undefined,
    );
  }
}

/** Returns what a reply of a stream to a published message says. */
function outcomeOf(reply: Msg | undefined): PublishOutcome {
  if (reply === undefined || reply.data.length === 0) return { kind: "unanswered" };
  const { error, seq } = reply.json<{ readonly error?: ApiError; readonly seq?: number }>();
  if (error !== undefined) return { kind: "refused", error };
  return seq === undefined ? { kind: "unanswered" } : { kind: "stored", sequence: seq };
}

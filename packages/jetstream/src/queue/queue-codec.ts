import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { JsMsg } from "@nats-io/jetstream";
import type { MsgHdrs, NatsConnection } from "@nats-io/transport-node";
import { storedReadOptions } from "@reeve/contracts/rules/nesting";
import { delayAfter } from "@reeve/platform/async/retry/backoff";
import { Failure } from "@reeve/platform/failure";
import { payloadCipherOf } from "../sealing/payload-cipher.ts";
import { keyIdOf } from "../sealing/sealed-message.ts";

/** The header with the tenant of a sealed message. */
const tenantHeader = "Reeve-Tenant";
/** After how long a message is delivered again whose key was not available. */
const keyRetry = { firstDelayMs: 1_000, maxDelayMs: 60_000 };

/** How the messages of a queue are encoded. */
export interface QueueFormat<Schema extends DescMessage> {
  readonly schema: Schema;
  /** Returns the tenant with whose key a message is sealed. Undefined: the messages are not sealed. */
  readonly tenantOf?: ((message: MessageShape<Schema>) => string) | undefined;
}

/** Encodes a message for a subject, sealed if the connection has keys. Adds the header that its reader needs. */
export async function encodeQueued<Schema extends DescMessage>(
  connection: NatsConnection,
  { schema, tenantOf }: QueueFormat<Schema>,
  { subject, message, headers }: QueuedMessage<Schema>,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const data = toBinary(schema, message);
  const cipher = payloadCipherOf(connection);
  if (tenantOf === undefined || !cipher.isOn) return data;
  const tenant = tenantOf(message);
  headers.set(tenantHeader, tenant);
  return await cipher.seal({ tenant, name: subject }, data, signal);
}

interface QueuedMessage<Schema extends DescMessage> {
  readonly subject: string;
  readonly message: MessageShape<Schema>;
  readonly headers: MsgHdrs;
}

/**
 * Returns the content of a message. Undefined: it is not for this taker. One that nobody can ever read is removed from the queue,
 * and one whose key is not available, or that is sealed while the connection has no keys, is delivered again later.
 */
export async function decodeQueued<Schema extends DescMessage>(
  connection: NatsConnection,
  { schema }: QueueFormat<Schema>,
  message: JsMsg,
  signal: AbortSignal,
): Promise<MessageShape<Schema> | undefined> {
  const { subject, headers } = message;
  const place = { tenant: headers?.get(tenantHeader) ?? "", name: subject };
  try {
    const data = await payloadCipherOf(connection).open(place, message.data, signal);
    return fromBinary(schema, data, storedReadOptions);
  } catch (error) {
    // A process without keys must not remove what others can read.
    const hasNoKeys = !payloadCipherOf(connection).isOn && keyIdOf(message.data) !== undefined;
    const isUnavailable = error instanceof Failure && error.kind === "unavailable";
    const isLater = signal.aborted || hasNoKeys || isUnavailable;
    if (isLater) message.nak(signal.aborted ? 0 : delayAfter(message.info.deliveryCount, keyRetry));
    // It would be redelivered forever, and no taker could read it.
    else message.term(`not a ${schema.typeName}`);
    return undefined;
  }
}

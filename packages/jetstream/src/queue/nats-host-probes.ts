import type { Msg, NatsConnection } from "@nats-io/transport-node";
import { errors } from "@nats-io/transport-node";
import { channelOf } from "@reeve/contracts/channel";
import { ToolhostProbeSchema } from "@reeve/contracts/toolhost";

/** How long a host may take to answer. A host that takes longer counts as alive and busy. */
const timeoutMs = 500;

const { subject } = channelOf(ToolhostProbeSchema);

/** Answers probes of `host` until it is disposed. */
export function answerProbes(connection: NatsConnection, host: string): Disposable {
  const subscription = connection.subscribe(subject({ host }), { callback: answer });
  return { [Symbol.dispose]: () => subscription.unsubscribe() };
}

function answer(error: Error | null, message: Pick<Msg, "respond">): void {
  if (error === null) message.respond();
}

/**
 * Returns whether `host` still listens for probes. Returns false only when the server knows of no listener. A timeout counts as
 * listening.
 */
export async function isListening(connection: NatsConnection, host: string): Promise<boolean> {
  try {
    await connection.request(subject({ host }), undefined, { timeout: timeoutMs });
    return true;
  } catch (error) {
    return !(error instanceof errors.RequestError && error.isNoResponders());
  }
}

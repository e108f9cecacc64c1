import type { Msg, NatsConnection } from "@nats-io/transport-node";
import { channelOf } from "@reeve/contracts/channel";
import { HolderProbeSchema } from "@reeve/contracts/queue";
import { sendRequest } from "@reeve/platform/nats/send-request";

/** How long a holder may take to answer. A holder that takes longer counts as connected and busy. */
const timeoutMs = 250;
const nothing = new Uint8Array();

const { subject } = channelOf(HolderProbeSchema);

/** Answers probes of `holder` until it is disposed. */
export function answerHolderProbes(connection: NatsConnection, holder: string): Disposable {
  const subscription = connection.subscribe(subject({ holder }), { callback: answer });
  return { [Symbol.dispose]: () => subscription.unsubscribe() };
}

function answer(error: Error | null, message: Pick<Msg, "respond">): void {
  if (error === null) message.respond();
}

/**
 * Returns whether the connection of `holder` is open. Returns false only when the server knows of no listener: the process
 * has ended, or is connecting again. Throws only the signal's reason.
 */
export async function isConnected(
  connection: NatsConnection,
  holder: string,
  signal: AbortSignal,
): Promise<boolean> {
  const probe = { data: nothing, timeoutMs };
  const outcome = await sendRequest(connection, subject({ holder }), probe, signal);
  return outcome.kind !== "no_responders";
}

import type { Msg, NatsConnection } from "@nats-io/transport-node";
import { errors } from "@nats-io/transport-node";
import { channelOf } from "@reeve/contracts/channel";
import { ToolhostProbeSchema } from "@reeve/contracts/toolhost";

/** How long a host may take to answer before it counts as one that is there and busy. */
const answerMs = 500;

const { subject } = channelOf(ToolhostProbeSchema);

/** Answers whoever asks whether `host` is there, for as long as the process is. */
export function answerProbes(connection: NatsConnection, host: string): Disposable {
  const listening = connection.subscribe(subject({ host }), { callback: answer });
  return { [Symbol.dispose]: () => listening.unsubscribe() };
}

function answer(error: Error | null, message: Pick<Msg, "respond">): void {
  if (error === null) message.respond();
}

/** Whether anybody listens where `host` did. One that does not answer in time counts as somebody. */
export async function isListening(connection: NatsConnection, host: string): Promise<boolean> {
  try {
    await connection.request(subject({ host }), undefined, { timeout: answerMs });
    return true;
  } catch (error) {
    return !(error instanceof errors.RequestError && error.isNoResponders());
  }
}

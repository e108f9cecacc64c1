import type { Notices } from "@reeve/jetstream/notices/nats";
import { abortable } from "@reeve/platform/async/abortable";
import { Failure } from "@reeve/platform/failure";
import { standardMessage } from "../formats/standard.ts";
import type { NatsReceiver } from "../settings/receiver-schema.ts";
import type { SenderOptions } from "./http-sender.ts";
import type { Attempt, Sender } from "./sender.ts";
import { signMessage } from "./sign-message.ts";

/**
 * Returns what publishes notifications on the bus, in the form of webhooks and with their signatures. One that is sent again has the
 * same id, by which the stream recognizes it for an hour; a later repetition is stored again, and readers recognize it.
 */
export function natsSender(
  receiver: NatsReceiver,
  options: SenderOptions,
  notices: Pick<Notices, "publish">,
): Sender {
  const { timeoutMs } = options;
  return {
    async send(notification, signal): Promise<Attempt> {
      const { notificationId: id, tenant } = notification;
      const body = JSON.stringify(standardMessage(notification, options.publicUrl));
      try {
        const signature = await signMessage(receiver, notification, body, options);
        const headers = { "content-type": "application/json", ...signature };
        const publishing = notices.publish({ id, receiver: receiver.name, tenant, headers, body });
        await abortable(publishing, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
        return { kind: "delivered" };
      } catch (error) {
        signal.throwIfAborted();
        return { kind: "unavailable", problem: problemOf(error, timeoutMs) };
      }
    },
  };
}

function problemOf(error: unknown, timeoutMs: number): string {
  if (error instanceof Failure) return error.message;
  return error instanceof DOMException && error.name === "TimeoutError"
    ? `the bus did not answer within ${timeoutMs / 1_000} seconds`
    : "the bus did not accept it";
}

import type { Notices } from "@reeve/jetstream/notices/nats";
import { Failure } from "@reeve/platform/failure";
import { standardMessage } from "../formats/standard.ts";
import type { NatsReceiver } from "../settings/receiver-schema.ts";
import type { SenderOptions } from "./http-sender.ts";
import type { Attempt, Sender } from "./sender.ts";
import { signMessage } from "./sign-message.ts";

/**
 * Returns what publishes notifications on the bus, in the form of webhooks and with their signatures. One that is sent again has the
 * same id, by which the stream recognizes it.
 */
export function natsSender(
  receiver: NatsReceiver,
  options: SenderOptions,
  notices: Pick<Notices, "publish">,
): Sender {
  return {
    async send(notification, signal): Promise<Attempt> {
      const { notificationId: id, tenant } = notification;
      const body = JSON.stringify(standardMessage(notification, options.publicUrl));
      try {
        const signature = await signMessage(receiver, notification, body, options);
        const headers = { "content-type": "application/json", ...signature };
        await notices.publish({ id, receiver: receiver.name, tenant, headers, body });
        return { kind: "delivered" };
      } catch (error) {
        signal.throwIfAborted();
        const problem = error instanceof Failure ? error.message : "the bus did not accept it";
        return { kind: "unavailable", problem };
      }
    },
  };
}

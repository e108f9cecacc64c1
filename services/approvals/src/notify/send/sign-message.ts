import type { Notification } from "@reeve/contracts/notification";
import type { Clock } from "@reeve/platform/async/clock";
import { signersOf } from "../settings/read-settings.ts";
import type { SignedReceiver } from "../settings/receiver-schema.ts";
import type { ReadSecret } from "../settings/secret-text.ts";

interface Signing {
  readonly readSecret: ReadSecret;
  /** Milliseconds since the epoch. */
  readonly clock: Pick<Clock, "now">;
}

/** Returns the headers with the id, the time, and the signatures of a message, as Standard Webhooks specifies. */
export async function signMessage(
  { secret }: Pick<SignedReceiver, "secret">,
  { notificationId }: Notification,
  body: string,
  { readSecret, clock }: Signing,
): Promise<Readonly<Record<string, string>>> {
  const time = new Date(clock.now());
  const signers = signersOf(await readSecret(secret));
  return {
    "webhook-id": notificationId,
    "webhook-timestamp": String(Math.floor(time.getTime() / 1_000)),
    "webhook-signature": signers.map((signer) => signer.sign(notificationId, time, body)).join(" "),
  };
}

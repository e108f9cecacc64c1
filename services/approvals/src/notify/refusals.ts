import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Notification } from "@reeve/contracts/notification";
import type { Attempt } from "./send/sender.ts";

/** How many notifications are remembered. The oldest one is forgotten first, and then has more attempts. */
const maxRemembered = 10_000;

/**
 * Counts how many times in a row a receiver refused a notification, as far as this process knows. Only a refusal in a row says
 * that a notification is hopeless: after an outage, a receiver may refuse once what it accepts a moment later.
 */
export class Refusals {
  readonly #counts = new Map<string, number>();

  /** Counts an attempt. Returns how many refusals in a row there were since the notification was queued. */
  count(
    { notificationId, queuedAt }: Pick<Notification, "notificationId" | "queuedAt">,
    kind: Attempt["kind"],
  ): number {
    // One that is replayed keeps its id, and has all attempts again.
    const key = `${notificationId}:${queuedAt === undefined ? "" : timestampMs(queuedAt)}`;
    const before = this.#counts.get(key) ?? 0;
    this.#counts.delete(key);
    if (kind !== "refused") return 0;
    this.#counts.set(key, before + 1);
    for (const oldest of this.#counts.keys()) {
      if (this.#counts.size <= maxRemembered) break;
      this.#counts.delete(oldest);
    }
    return before + 1;
  }
}

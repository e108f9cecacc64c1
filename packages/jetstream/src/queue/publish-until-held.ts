import type { WorkQueue } from "./port.ts";

/** How many messages in a row may disappear from the queue. After that, the next sweep tries. */
const maxAttempts = 3;

/**
 * Publishes `message` and makes sure that the queue holds it. The queue drops a message whose id it saw before, even if the
 * first one is gone from the queue; this function then publishes under another id. Returns the sequence at which the queue
 * holds the message. Returns undefined when `isNeeded`, called before each publication, returns false, or when one published
 * message after another disappears from the queue.
 */
export async function publishUntilHeld<Message>(
  queue: Pick<WorkQueue<Message>, "publish" | "holds">,
  message: Message,
  { dedupeId, isNeeded }: { readonly dedupeId: string; readonly isNeeded?: () => Promise<boolean> },
  signal: AbortSignal,
): Promise<number | undefined> {
  let id = dedupeId;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    if (isNeeded !== undefined && !(await isNeeded())) return undefined;
    const sequence = await queue.publish(message, { dedupeId: id }, signal);
    if (await queue.holds(sequence, signal)) return sequence;
    // The queue accepts an id that names the sequence of the message that is gone.
    id = `${dedupeId}:after:${sequence}`;
  }
  return undefined;
}

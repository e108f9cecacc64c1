import type { WorkQueue } from "./port.ts";

/** How many messages may be gone one after the other before it is left to whoever looks next. */
const maxAttempts = 3;

/**
 * Publishes `message` so that it is in the queue, also when one of the same id went through it and is gone: such a one the
 * queue drops. Returns the place where it lies; undefined: `isOwed`, which is asked before each publication, says no more,
 * or what is published is gone again and again.
 */
export async function publishUntilHeld<Message>(
  queue: Pick<WorkQueue<Message>, "publish" | "holds">,
  message: Message,
  { dedupeId, isOwed }: { readonly dedupeId: string; readonly isOwed?: () => Promise<boolean> },
  signal: AbortSignal,
): Promise<number | undefined> {
  let id = dedupeId;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    if (isOwed !== undefined && !(await isOwed())) return undefined;
    const sequence = await queue.publish(message, { dedupeId: id }, signal);
    if (await queue.holds(sequence, signal)) return sequence;
    // The queue takes an id that names the place of the message that is gone.
    id = `${dedupeId}:after:${sequence}`;
  }
  return undefined;
}

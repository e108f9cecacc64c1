import type { WorkQueue } from "./port.ts";

/** How many messages in a row may disappear from the queue. After that, the next sweep tries. */
const maxAttempts = 3;

interface PublicationOptions {
  readonly dedupeId: string;
  readonly gone?: number | undefined;
  readonly isNeeded?: () => Promise<boolean>;
}

/**
 * Publishes `message` and makes sure that the queue holds it. The queue drops a message whose id it saw before, even if the
 * first one is gone from the queue; this function then publishes under another id. `gone` is the sequence of a message with
 * this id that is known to be gone. Returns the sequence at which the queue holds the message. Returns undefined when
 * `isNeeded`, called before each publication, returns false, or when one published message after another disappears from the
 * queue.
 */
export async function publishUntilHeld<Message>(
  queue: Pick<WorkQueue<Message>, "publish" | "holds">,
  message: Message,
  { dedupeId, gone, isNeeded }: PublicationOptions,
  signal: AbortSignal,
): Promise<number | undefined> {
  // The queue accepts an id that names the sequence of the message that is gone.
  const idAfter = (sequence: number) => `${dedupeId}:after:${sequence}`;
  let id = gone === undefined ? dedupeId : idAfter(gone);
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    if (isNeeded !== undefined && !(await isNeeded())) return undefined;
    const sequence = await queue.publish(message, { dedupeId: id }, signal);
    if (await queue.holds(sequence, signal)) return sequence;
    id = idAfter(sequence);
  }
  return undefined;
}

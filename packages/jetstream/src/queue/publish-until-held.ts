import type { WorkQueue } from "./port.ts";

/** How many messages in a row may disappear from the queue. After that, the caller tries again later. */
const maxAttempts = 3;

/**
 * What became of a message: the queue holds it; one published message after another disappeared, the last one at `sequence`; or it
 * was no longer needed.
 */
export type Publication =
  | { readonly kind: "held"; readonly sequence: number }
  | { readonly kind: "gone"; readonly sequence: number }
  | { readonly kind: "unneeded" };

interface PublicationOptions {
  readonly dedupeId: string;
  readonly gone?: number | undefined;
  readonly isNeeded?: () => Promise<boolean>;
}

/**
 * Publishes `message` and makes sure that the queue holds it. The queue drops a message whose id it saw before, even if the
 * first one is gone from the queue; this function then publishes under another id. `gone` is the sequence of a message with
 * this id that is known to be gone: a caller that tries again passes the one of the last outcome, because the queue knows the ids
 * before it. `isNeeded` is called before each publication.
 */
export async function publishUntilHeld<Message>(
  queue: Pick<WorkQueue<Message>, "publish" | "holds">,
  message: Message,
  { dedupeId, gone, isNeeded }: PublicationOptions,
  signal: AbortSignal,
): Promise<Publication> {
  // The queue accepts an id that names the sequence of the message that is gone.
  const idAfter = (sequence: number) => `${dedupeId}:after:${sequence}`;
  let id = gone === undefined ? dedupeId : idAfter(gone);
  for (let attempt = 1; ; attempt++) {
    if (isNeeded !== undefined && !(await isNeeded())) return { kind: "unneeded" };
    const sequence = await queue.publish(message, { dedupeId: id }, signal);
    if (await queue.holds(sequence, signal)) return { kind: "held", sequence };
    if (attempt === maxAttempts) return { kind: "gone", sequence };
    id = idAfter(sequence);
  }
}

import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import type { ThreadEvent, ThreadHead } from "@reeve/contracts/thread";
import { ThreadEventSchema } from "@reeve/contracts/thread";
import type { ThreadKey, ThreadLog } from "@reeve/jetstream/log/thread-log";
import { Failure } from "@reeve/platform/failure";
import { refreshThread } from "./read-thread.ts";
import type { ThreadView } from "./thread-head.ts";
import { headAfter } from "./thread-head.ts";

/** An event of a thread that is not in its log yet. */
export type ThreadFact = NonNullable<MessageInitShape<typeof ThreadEventSchema>["event"]>;

/** How many times other writers may append first before the command fails. */
const maxAttempts = 1_000;

/**
 * Appends to the log of a thread. `decide` gets the current state and returns the facts to append; none if the log has them
 * already. It throws a Failure to refuse, and is called again whenever another writer was first. Returns the view with the
 * facts in it.
 */
export async function appendThread(
  threads: ThreadLog,
  key: ThreadKey,
  seen: ThreadView,
  decide: (head: ThreadHead) => readonly ThreadFact[] | Promise<readonly ThreadFact[]>,
  signal: AbortSignal,
): Promise<ThreadView> {
  let view = seen;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const facts = await decide(view.head);
    if (facts.length === 0) return view;
    const { events, head } = eventsOf(key, view, facts);
    const outcome = await threads.append(key, view.tail, events, signal);
    if (outcome.kind === "appended") return { ...view, head, tail: outcome.tail };
    view = await refreshThread(threads, key, view, signal);
  }
  throw new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    `thread ${key.thread} was not changed: other writers were first in all ${maxAttempts} attempts; try again`,
  );
}

/** Returns the events of a batch with these facts, the last of which has the head. */
function eventsOf(
  { thread }: ThreadKey,
  before: ThreadView,
  facts: readonly ThreadFact[],
): { readonly events: readonly ThreadEvent[]; readonly head: ThreadHead } {
  const time = timestampNow();
  const { sequence } = before.tail;
  const events = facts.map((event, index) =>
    create(ThreadEventSchema, { threadId: thread, sequence: sequence + 1 + index, time, event }),
  );
  const head = headAfter(before, events);
  const last = events.at(-1);
  if (last !== undefined) last.head = head;
  return { events, head };
}

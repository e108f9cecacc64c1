import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import { ThreadEventSchema } from "@reeve/contracts/thread";
import type { Tail } from "@reeve/jetstream/log/port";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { ThreadKey, ThreadLog } from "@reeve/jetstream/log/thread-log";
import { Failure } from "@reeve/platform/failure";
import type { ThreadState } from "./thread-state.ts";
import { emptyThread, foldThread } from "./thread-state.ts";

/** An event of a thread that is not in its log yet. */
export type ThreadFact = NonNullable<MessageInitShape<typeof ThreadEventSchema>["event"]>;

/** The state of a thread at the tail of its log up to which it is folded. */
export interface ThreadView {
  readonly state: ThreadState;
  readonly tail: Tail;
}

/** How many times other writers may append first before the command fails. */
const maxAttempts = 1_000;

/** Returns the current state of a thread. */
export async function readThread(
  threads: ThreadLog,
  key: ThreadKey,
  signal: AbortSignal,
): Promise<ThreadState> {
  const { state } = await refreshThread(threads, key, undefined, signal);
  return state;
}

/** Returns the current view of a thread. Reads only what follows `before`. */
export async function refreshThread(
  threads: ThreadLog,
  key: ThreadKey,
  before: ThreadView | undefined,
  signal: AbortSignal,
): Promise<ThreadView> {
  const missed = await threads.read(key, before?.tail ?? emptyTail, signal);
  return { state: foldThread(before?.state ?? emptyThread, missed.events), tail: missed.tail };
}

/**
 * Appends to the log of a thread. `decide` gets the current state and returns the facts to append; none if the log has them
 * already. It throws a Failure to refuse, and is called again whenever another writer was first. Returns the view with the
 * facts in it.
 */
export async function appendThread(
  threads: ThreadLog,
  key: ThreadKey,
  seen: ThreadView,
  decide: (state: ThreadState) => readonly ThreadFact[],
  signal: AbortSignal,
): Promise<ThreadView> {
  let { state, tail } = seen;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const facts = decide(state);
    if (facts.length === 0) return { state, tail };
    const time = timestampNow();
    const { sequence } = tail;
    const events = facts.map((event, index) =>
      create(ThreadEventSchema, {
        threadId: key.thread,
        sequence: sequence + 1 + index,
        time,
        event,
      }),
    );
    const outcome = await threads.append(key, tail, events, signal);
    if (outcome.kind === "appended") {
      return { state: foldThread(state, events), tail: outcome.tail };
    }
    ({ state, tail } = await refreshThread(threads, key, { state, tail }, signal));
  }
  throw new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    `thread ${key.thread} was not changed: other writers were first in all ${maxAttempts} attempts; try again`,
  );
}

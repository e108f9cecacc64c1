import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import { ThreadEventSchema } from "@reeve/contracts/thread";
import { emptyTail } from "@reeve/log/log";
import type { ThreadKey, ThreadLog } from "@reeve/log/thread-log";
import { Failure } from "@reeve/platform/failure";
import type { ThreadState } from "./thread-state.ts";
import { emptyThread, foldThread } from "./thread-state.ts";

/** Something that is to be said in the log of a thread. */
export type ThreadFact = NonNullable<MessageInitShape<typeof ThreadEventSchema>["event"]>;

const mostAttempts = 200;

/** The thread as it stands. */
export async function readThread(
  threads: ThreadLog,
  key: ThreadKey,
  signal: AbortSignal,
): Promise<ThreadState> {
  const { events } = await threads.read(key, emptyTail, signal);
  return foldThread(emptyThread, events);
}

/**
 * Appends to the log of a thread what `decide` says of it as it stands: nothing when it stands already. It is asked again
 * whenever somebody else wrote first, and throws a Failure to refuse. Returns the state with the facts in it.
 */
export async function commitThread(
  threads: ThreadLog,
  key: ThreadKey,
  decide: (state: ThreadState) => readonly ThreadFact[],
  signal: AbortSignal,
): Promise<ThreadState> {
  let state = emptyThread;
  let tail = emptyTail;
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const missed = await threads.read(key, tail, signal);
    state = foldThread(state, missed.events);
    tail = missed.tail;
    const facts = decide(state);
    if (facts.length === 0) return state;
    const time = timestampNow();
    const events = facts.map((event, index) =>
      create(ThreadEventSchema, {
        threadId: key.thread,
        sequence: tail.sequence + 1 + index,
        time,
        event,
      }),
    );
    const outcome = await threads.append(key, tail, events, signal);
    if (outcome.kind === "appended") return foldThread(state, events);
  }
  throw new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    `thread ${key.thread} is written to without a pause; try again`,
  );
}

import type { ThreadKey, ThreadLog } from "@reeve/jetstream/log/thread-log";
import { viewThread } from "@reeve/run/thread/read-thread";

/** A run of a thread that got its turn, or whose turn ended. */
export interface ThreadRun {
  readonly kind: "started" | "ended";
  readonly runId: string;
}

/** Yields the run of a thread that has its turn, then each change. The thread need not exist. Ends when the thread is deleted. */
export async function* threadRuns(
  threads: ThreadLog,
  key: ThreadKey,
  signal: AbortSignal,
): AsyncIterable<ThreadRun> {
  const { head, tail } = await viewThread(threads, key, signal);
  for (const { runId, started } of head.openTurns) if (started) yield { kind: "started", runId };
  for await (const { events } of threads.follow(key, tail, signal)) {
    for (const { event } of events) {
      if (event.case === "turnStarted") yield { kind: "started", runId: event.value.runId };
      if (event.case === "turnEnded") yield { kind: "ended", runId: event.value.runId };
    }
  }
}

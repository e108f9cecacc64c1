import { TaskSet } from "@reeve/platform/async/task-set";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import type { GatewayPorts } from "../gateway-ports.ts";
import type { RunCalls } from "./run-calls.ts";
import { runCalls } from "./run-calls.ts";
import { threadRuns } from "./thread-runs.ts";

/** To what tools are offered. */
export type OfferTarget =
  | { readonly kind: "thread"; readonly threadId: string }
  | { readonly kind: "run"; readonly runId: string };

/** What happened in the runs of a target. */
export type TargetChange =
  | { readonly kind: "calls"; readonly key: RunKey; readonly calls: RunCalls }
  /** The run needs no answers anymore. */
  | { readonly kind: "run_over"; readonly key: RunKey };

/** Reports the calls in the run of a target, or in each run that has its turn in it, until the target has ended. */
export async function followTarget(
  ports: Pick<GatewayPorts, "log" | "threads">,
  tenant: string,
  target: OfferTarget,
  report: (change: TargetChange) => void,
  signal: AbortSignal,
): Promise<void> {
  const followRun = async (runId: string, until: AbortSignal) => {
    const key = { tenant, run: runId };
    for await (const calls of runCalls(ports.log, key, until))
      report({ kind: "calls", key, calls });
    report({ kind: "run_over", key });
  };
  if (target.kind === "run") return await followRun(target.runId, signal);
  const broken = new AbortController();
  const all = AbortSignal.any([signal, broken.signal]);
  const tasks = new TaskSet();
  const followed = new Map<string, AbortController>();
  try {
    const thread = { tenant, thread: target.threadId };
    for await (const { kind, runId } of threadRuns(ports.threads, thread, all)) {
      if (kind === "ended") {
        followed.get(runId)?.abort(turnEnded);
        followed.delete(runId);
        report({ kind: "run_over", key: { tenant, run: runId } });
      } else if (!followed.has(runId)) {
        const end = new AbortController();
        followed.set(runId, end);
        const task = tasks.add(followRun(runId, AbortSignal.any([all, end.signal])));
        task.catch((error: unknown) => {
          if (!end.signal.aborted) broken.abort(error);
        });
      }
    }
  } finally {
    broken.abort(new DOMException("the thread is not followed anymore", "AbortError"));
    await tasks.settled();
  }
}

const turnEnded = new DOMException("the turn of the run ended", "AbortError");

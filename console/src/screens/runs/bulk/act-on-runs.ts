import { problemOf } from "../../../api/problem.ts";

/** What became of a run of several that were chosen. */
export interface RunResult {
  readonly runId: string;
  /** Id of the run that was started instead. */
  readonly newRunId?: string | undefined;
  /** Why nothing happened. */
  readonly problem?: string;
}

/** Does something to one run. May return the id of a new one. */
export type ActOnRun = (runId: string, signal: AbortSignal) => Promise<string | undefined>;

/** How many requests are sent at once: browsers open only six connections to a server. */
const maxConcurrent = 3;

/** Does something to each run, and returns one result each, in their order. Stops starting requests when `signal` aborts. */
export async function actOnRuns(
  runIds: readonly string[],
  act: ActOnRun,
  signal: AbortSignal,
): Promise<readonly RunResult[]> {
  const results = new Map<string, RunResult>();
  const left = runIds.values();
  const work = async () => {
    for (const runId of left) {
      if (signal.aborted) return;
      results.set(runId, await resultOf(runId, act, signal));
    }
  };
  await Promise.all(Array.from({ length: maxConcurrent }, work));
  return runIds.map((runId) => results.get(runId) ?? { runId, problem: "not tried" });
}

async function resultOf(runId: string, act: ActOnRun, signal: AbortSignal): Promise<RunResult> {
  try {
    return { runId, newRunId: await act(runId, signal) };
  } catch (thrown) {
    const { title, message } = problemOf(thrown);
    return { runId, problem: message || title };
  }
}

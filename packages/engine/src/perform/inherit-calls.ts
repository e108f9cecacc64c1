import { emptyTail } from "@reeve/jetstream/log/port";
import { foldInSlices } from "@reeve/platform/async/fold-in-slices";
import { failRun } from "../domain/end-run.ts";
import type { Effect } from "../domain/next-effects.ts";
import { applyAll } from "../domain/state/apply.ts";
import type { Fact } from "../domain/state/fact.ts";
import { bytesOf, fact, rootScope } from "../domain/state/fact.ts";
import type { RunState } from "../domain/state/run-state.ts";
import { initialState, rootOf } from "../domain/state/run-state.ts";
import { inheritedCalls } from "../domain/workflow/inherited-calls.ts";
import type { RunPorts } from "../ports/run-ports.ts";

/** The bytes of the facts that are appended together, unless one call has more. */
const maxBatchBytes = 200 * 1024;

/**
 * Reads the failed run that the workflow of a run continues, and yields the calls that ended there, with their results, in several
 * batches, and then that they are complete. A worker that takes over yields only those that the log does not have. Ends the run if the
 * failed one was deleted.
 */
export async function* inheritCalls(
  state: RunState,
  { runId, scope }: Extract<Effect, { kind: "inherit_calls" }>,
  { log }: RunPorts,
  signal: AbortSignal,
): AsyncIterable<readonly Fact[]> {
  const key = { tenant: state.head.created?.tenant ?? "", run: runId };
  const { events } = await log.read(key, emptyTail, signal);
  const failed = await foldInSlices(initialState, events, applyAll, signal);
  if (failed.head.created === undefined) {
    const message = `run ${runId}, which this run continues, was deleted; start the workflow anew`;
    yield failRun(state, scope, "not_found", message);
    return;
  }
  const known = rootOf(state).calls.filter(({ call }) => call.inheritedFrom !== "").length;
  const calls = inheritedCalls(state, failed);
  let batch: Fact[] = [];
  let bytes = 0;
  for (const facts of calls) {
    const more = facts.reduce((sum, each) => sum + bytesOf(each), 0);
    if (batch.length > 0 && bytes + more > maxBatchBytes) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(...facts);
    bytes += more;
  }
  const value = { runId, isComplete: true, calls: known + calls.length };
  yield [...batch, fact(rootScope, { case: "workflowContinued", value })];
}

/** The workflow of a run, as Temporal executes it. It is bundled by install.mjs, in whose folder it finds its packages. */
import {
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  workflowInfo,
} from "@temporalio/workflow";
import { Inbox, carryRun } from "./carry-run.ts";

const dispatched = defineSignal("dispatched");

// A worker that falls silent is noticed by its heartbeats: a run may work for as long as it needs.
const forever = "3650 days";
const retry = { initialInterval: "1s", backoffCoefficient: 2, maximumInterval: "1 minute" };
// Each death of an owner is an attempt, so a run that outlives many must not wait longer for each.
const ownerRetry = { initialInterval: "500ms", backoffCoefficient: 2, maximumInterval: "2s" };

/** Runs until the run has ended. Its name and its commands are recorded: a change that cannot be replayed gets a new name. */
export async function reeveRun(start, { heartbeatTimeoutMs }) {
  const { tenant, run } = start;
  const { ownRun } = proxyActivities({
    // Where the server has fair task queues, tenants share the workers.
    priority: { fairnessKey: tenant.slice(0, 64) },
    startToCloseTimeout: forever,
    heartbeatTimeout: heartbeatTimeoutMs,
    retry: ownerRetry,
  });
  // Needs no slot of a worker, which may have runs in all of them.
  const { cancelRun } = proxyLocalActivities({ startToCloseTimeout: "1 minute", retry });
  const inbox = new Inbox();
  setHandler(dispatched, (dispatch) => inbox.receive(dispatch));
  const calls = {
    own: ownRun,
    wait: condition,
    isFull: () => workflowInfo().continueAsNewSuggested,
  };
  let cancelled = Promise.resolve();
  // The log of the run gets the cancellation. Its owner sees that, as it sees one of a client, and ends the run.
  CancellationScope.current().cancelRequested.catch(() => {
    cancelled = CancellationScope.nonCancellable(() => cancelRun({ tenant, run }));
  });
  await CancellationScope.nonCancellable(async () => {
    const next = await carryRun(start, inbox, calls);
    await cancelled;
    if (next !== undefined) await continueAsNew(next, { heartbeatTimeoutMs });
  });
}

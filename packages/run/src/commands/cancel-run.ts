import { create } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { storedTreeOf } from "../tree/fit-tree.ts";
import { DispatchSchema, RunStatus } from "@reeve/contracts/run";
import type { CallJournal } from "@reeve/jetstream/log/call-journal";
import { cancelCall } from "./cancel-call.ts";
import type { AppendExternalPorts } from "./append-external.ts";
import { appendExternal } from "./append-external.ts";
import type { RunHead } from "../head/run-head.ts";
import { isTerminal } from "../head/run-status.ts";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { costSummaryOf } from "../head/ledger.ts";

export interface CancelPorts extends AppendExternalPorts {
  readonly journal: Pick<CallJournal, "read" | "append">;
}

/**
 * Cancels a run: when it returns, the run is cancelled for everybody and the calls that it had handed out are withdrawn,
 * whether or not a worker has it. What else it had under way is ended by its owner, or by whoever takes the dispatch.
 * Returns the run as it then stands: one that has ended before is left as it is, and of one that does not exist the head
 * is empty.
 */
export async function cancelRun(
  ports: CancelPorts,
  key: RunKey,
  { requestedBy, reason }: { readonly requestedBy: string; readonly reason: string },
  signal: AbortSignal,
): Promise<RunHead> {
  const head = await appendExternal(
    ports,
    key,
    ({ created, status, spent, tree }) =>
      created === undefined || isTerminal(status)
        ? []
        : [
            { case: "cancelRequested", value: { requestedBy, reason } },
            { case: "costSummary", value: costSummaryOf(spent) },
            { case: "treeStored", value: { tree: storedTreeOf(tree) } },
            { case: "status", value: { status: RunStatus.CANCELLED, message: reason } },
          ],
    signal,
  );
  if (head.status === RunStatus.CANCELLED) {
    const message = create(DispatchSchema, { tenant: key.tenant, runId: key.run });
    await Promise.all([
      ports.dispatch.publish(message, { dedupeId: `${key.run}:cancel` }, signal),
      withdrawCalls(ports, key, head, signal),
    ]);
  }
  return head;
}

/** The calls that toolhosts may have. The run's owner does the same: but it may be dead, and the calls alive. */
async function withdrawCalls(
  { journal }: CancelPorts,
  key: RunKey,
  { outstandingCalls }: RunHead,
  signal: AbortSignal,
): Promise<void> {
  const withdrawn = { reason: "the run ended: cancelled", time: timestampNow() };
  await Promise.all(
    [...outstandingCalls].map((call) => cancelCall(journal, { ...key, call }, withdrawn, signal)),
  );
}

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
import { cancelledGenerations, withCancelledGenerations } from "../media/generations.ts";
import { costSummaryOf } from "../head/ledger.ts";

export interface CancelPorts extends AppendExternalPorts {
  readonly journal: Pick<CallJournal, "read" | "append">;
}

/**
 * Cancels a run. When it returns, every reader of the log sees the run as cancelled and its outstanding tool calls are
 * cancelled too, with or without an owner. Its generations of media in progress count with their maximum cost. The owner, or the worker that takes the dispatch, ends everything else in
 * progress. Returns the resulting head: a run that has ended before stays as it is, and the head of a run that does not
 * exist is empty.
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
    ({ created, status, generations, spent, tree }) =>
      created === undefined || isTerminal(status)
        ? []
        : [
            { case: "cancelRequested", value: { requestedBy, reason } },
            ...cancelledGenerations(generations).map((value) => ({
              case: "mediaCallEnded" as const,
              value,
            })),
            {
              case: "costSummary",
              value: costSummaryOf(withCancelledGenerations(spent, generations)),
            },
            { case: "treeStored", value: { tree: storedTreeOf(tree) } },
            { case: "status", value: { status: RunStatus.CANCELLED, message: reason } },
          ],
    signal,
  );
  if (head.status === RunStatus.CANCELLED) {
    const message = create(DispatchSchema, {
      tenant: key.tenant,
      runId: key.run,
      afterSequence: head.lastSequence,
      cancelled: true,
    });
    await Promise.all([
      ports.dispatch.publish(message, { dedupeId: `${key.run}:cancel` }, signal),
      cancelOutstandingCalls(ports, key, { ...head, reason: "the run ended: cancelled" }, signal),
    ]);
  }
  return head;
}

/** Cancels the calls of a run that toolhosts may execute. The owner does so too, but it may be dead while the calls are alive. */
export async function cancelOutstandingCalls(
  { journal }: Pick<CancelPorts, "journal">,
  key: RunKey,
  { outstandingCalls, reason }: Pick<RunHead, "outstandingCalls"> & { readonly reason: string },
  signal: AbortSignal,
): Promise<void> {
  const cancellation = { reason, time: timestampNow() };
  await Promise.all(
    [...outstandingCalls].map((call) =>
      cancelCall(journal, { ...key, call }, cancellation, signal),
    ),
  );
}

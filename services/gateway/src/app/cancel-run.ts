import { create } from "@bufbuild/protobuf";
import { treeOf } from "@reeve/contracts/execution-tree";
import { DispatchSchema, RunStatus } from "@reeve/contracts/run";
import { commitForeign, ended } from "@reeve/log/commit-foreign";
import type { RunHead } from "@reeve/log/run-head";
import { isTerminal } from "@reeve/log/run-head";
import { settleThread } from "@reeve/thread/settle-thread";
import type { Principal } from "@reeve/platform/principal";
import type { GatewayPorts } from "./gateway-ports.ts";
import { noSuchRun, runKeyOf } from "./read-run.ts";

/**
 * Cancels a run: when it returns, the run is cancelled for everybody, whether or not a worker has it. What it had under
 * way is ended by its owner, or by whoever takes the dispatch.
 */
export async function cancelRun(
  ports: Pick<GatewayPorts, "log" | "dispatch" | "threads" | "threadIndex">,
  { tenant, subject }: Principal,
  { runId, reason }: { readonly runId: string; readonly reason: string },
  signal: AbortSignal,
): Promise<RunHead> {
  const key = runKeyOf(tenant, runId);
  const head = await commitForeign(
    ports,
    key,
    (before) => {
      if (before.created === undefined) throw noSuchRun(runId);
      if (before.status === RunStatus.CANCELLED) return [];
      if (isTerminal(before.status)) throw ended(key, before);
      return [
        { case: "cancelRequested", value: { requestedBy: subject, reason } },
        { case: "costSummary", value: before.spent },
        { case: "treeStored", value: { tree: treeOf(before.tree) } },
        { case: "status", value: { status: RunStatus.CANCELLED, message: reason } },
      ];
    },
    signal,
  );
  const message = create(DispatchSchema, { tenant, runId });
  await ports.dispatch.publish(message, { dedupeId: `${runId}:cancel` }, signal);
  const thread = head.created?.threadId ?? "";
  if (thread !== "") await settleThread(ports, { tenant, thread }, signal);
  return head;
}

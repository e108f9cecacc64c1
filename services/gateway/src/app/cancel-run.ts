import { RunStatus } from "@reeve/contracts/run";
import { cancelRun as cancelRunOf } from "@reeve/log/cancel-run";
import { ended } from "@reeve/log/commit-foreign";
import type { RunHead } from "@reeve/log/run-head";
import type { Principal } from "@reeve/platform/principal";
import { endTurn } from "@reeve/thread/end-turn";
import type { GatewayPorts } from "./gateway-ports.ts";
import { noSuchRun, runKeyOf } from "./read-run.ts";

/**
 * Cancels a run, and gives its place in its thread, if it has one, to the next. Throws a Failure of kind `not_found` when
 * there is no such run, and `precondition` when it has ended otherwise.
 */
export async function cancelRun(
  ports: Pick<GatewayPorts, "log" | "journal" | "dispatch" | "threads">,
  { tenant, subject }: Principal,
  { runId, reason }: { readonly runId: string; readonly reason: string },
  signal: AbortSignal,
): Promise<RunHead> {
  const key = runKeyOf(tenant, runId);
  const head = await cancelRunOf(ports, key, { requestedBy: subject, reason }, signal);
  if (head.created === undefined) throw noSuchRun(runId);
  if (head.status !== RunStatus.CANCELLED) throw ended(key, head);
  const thread = head.created.threadId;
  if (thread !== "") await endTurn(ports, { tenant, thread }, runId, signal);
  return head;
}

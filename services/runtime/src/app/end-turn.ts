import { settleThread } from "@reeve/thread/settle-thread";
import type { RunState } from "../domain/run-state.ts";
import type { RunPorts } from "../ports/run-ports.ts";

/** A run that has ended leaves its place in its thread to the next one. */
export async function endTurn(
  { created }: RunState,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<void> {
  if (created === undefined || created.threadId === "") return;
  await settleThread(ports, { tenant: created.tenant, thread: created.threadId }, signal);
}

import { endTurn } from "@reeve/run/thread/end-turn";
import type { RunState } from "../domain/state/run-state.ts";
import type { RunPorts } from "../ports/run-ports.ts";

/** A run that has ended leaves its place in its thread to the next one. */
export async function leaveThread(
  { created, runId }: RunState,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<void> {
  if (created === undefined || created.threadId === "") return;
  const key = { tenant: created.tenant, thread: created.threadId };
  await endTurn(ports, key, runId, signal);
}

import { RunLiveness } from "@reeve/contracts/toolhost";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import type { Liveness } from "../liveness/liveness.ts";

/** Whether nothing more happens for a run: its log does not exist, or ends with the terminal status. */
export async function isRunOver(
  liveness: Pick<Liveness, "ofRun">,
  { tenant, run }: RunKey,
  signal: AbortSignal,
): Promise<boolean> {
  const state = await liveness.ofRun(tenant, run, signal);
  return state === RunLiveness.MISSING || state === RunLiveness.ENDED;
}

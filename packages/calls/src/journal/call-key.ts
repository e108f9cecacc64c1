import type { ToolCallRequest } from "@reeve/contracts/tool";
import type { CallKey } from "@reeve/jetstream/log/call-journal";

/** Returns the key of the journal of a call. */
export function callKeyOf({ tenant, runId, call }: ToolCallRequest): CallKey {
  return { tenant, run: runId, call: call?.callId ?? "" };
}

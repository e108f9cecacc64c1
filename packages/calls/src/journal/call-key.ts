import type { ToolCallRequest } from "@reeve/contracts/tool";
import type { CallKey } from "@reeve/jetstream/log/call-journal";

/** Where the journal of a call is. */
export function callKeyOf({ tenant, runId, call }: ToolCallRequest): CallKey {
  return { tenant, run: runId, call: call?.callId ?? "" };
}

import type { CallContext } from "@reeve/calls/ports/tool";
import type { CallSettings } from "@reeve/calls/settings/tool-settings";
import type { SandboxCommand } from "@reeve/sandbox/port";

/** Returns the network that a command of the call may use. An agent without network access requests none. */
export function networkUse(
  { network: allow }: Pick<CallSettings, "network">,
  { runId, callId }: Pick<CallContext, "runId" | "callId">,
): Pick<SandboxCommand, "network"> {
  return allow.length === 0 ? {} : { network: { allow, runId, callId } };
}

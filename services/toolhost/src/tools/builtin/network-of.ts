import type { CallSettings } from "@reeve/calls/settings/tool-settings";
import type { SandboxCommand } from "@reeve/sandbox/port";
import type { CallContext } from "@reeve/calls/ports/tool";

/** The network of a command, as the agent of the call has it. An agent without one asks for nothing. */
export function networkOf(
  { network: allow }: Pick<CallSettings, "network">,
  { runId, callId }: Pick<CallContext, "runId" | "callId">,
): Pick<SandboxCommand, "network"> {
  return allow.length === 0 ? {} : { network: { allow, runId, callId } };
}

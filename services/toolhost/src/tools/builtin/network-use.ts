import type { CallContext } from "@reeve/calls/ports/tool";
import type { CallSettings } from "@reeve/calls/settings/tool-settings";
import type { SandboxCommand } from "@reeve/sandbox/port";

/** Returns the network that a command of the call may use. An agent without network access requests none. */
export function networkUse(
  {
    network: allow,
    networkCredentials: names,
  }: Pick<CallSettings, "network" | "networkCredentials">,
  { tenant, runId, callId }: Pick<CallContext, "tenant" | "runId" | "callId">,
): Pick<SandboxCommand, "network"> {
  if (allow.length === 0) return {};
  return { network: { allow, runId, callId, credentials: { tenant, names } } };
}

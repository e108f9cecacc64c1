import type { CallSettings } from "../../domain/tool-settings.ts";
import type { SandboxCommand } from "../../ports/sandbox.ts";
import type { CallContext } from "../../ports/tool.ts";

/** The network of a command, as the agent of the call has it. An agent without one asks for nothing. */
export function networkOf(
  { network: allow }: Pick<CallSettings, "network">,
  { runId, callId }: Pick<CallContext, "runId" | "callId">,
): Pick<SandboxCommand, "network"> {
  return allow.length === 0 ? {} : { network: { allow, runId, callId } };
}

import type { ToolCallRequest } from "@reeve/contracts/tool";
import { ToolStatus } from "@reeve/contracts/tool";
import { Failure } from "@reeve/platform/failure";
import { traceparentOf } from "@reeve/platform/telemetry/spans";
import { argumentCheck } from "./check-arguments.ts";
import { callSettings } from "../settings/tool-settings.ts";
import type { CallContext, ToolOutcome } from "../ports/tool.ts";
import type { Performed } from "./performed.ts";
import type { ToolhostPorts } from "../ports/toolhost-ports.ts";
import { inExecutionSpan } from "./execution-span.ts";

/**
 * Makes one call. Everything that the model could have done better, and everything that goes wrong on the way, is an
 * outcome that the model reads; throws only when `signal` aborts.
 */
export function performCall(
  request: ToolCallRequest,
  ports: ToolhostPorts,
  asked: Pick<CallContext, "report" | "ask" | "sandbox">,
  signal: AbortSignal,
): Promise<Performed> {
  return inExecutionSpan(request, () => perform(request, ports, asked, signal));
}

async function perform(
  request: ToolCallRequest,
  { toolbox, log }: Pick<ToolhostPorts, "toolbox" | "log">,
  { report, ask, sandbox }: Pick<CallContext, "report" | "ask" | "sandbox">,
  signal: AbortSignal,
): Promise<Performed> {
  const { tenant, runId, traceparent, call } = request;
  const tool = toolbox.find(call?.name ?? "");
  if (tool === undefined) return refused(`there is no tool ${call?.name ?? ""} here`);
  if (call?.arguments === undefined) {
    return refused(`the arguments are no JSON object: ${call?.rawArguments ?? ""}`);
  }
  const problem = argumentCheck(tool.descriptor.inputSchema)(call.arguments);
  if (problem !== undefined) return refused(`the arguments are not valid: ${problem}`);
  const began = performance.now();
  const context = {
    tenant,
    runId,
    traceparent: traceparentOf() || traceparent,
    callId: call.callId,
    args: call.arguments,
    settings: callSettings(request.settings),
    sandbox,
    report,
    ask,
  };
  try {
    const outcome = await tool.call(context, signal);
    signal.throwIfAborted();
    const executionTimeMs = outcome.executionTimeMs ?? performance.now() - began;
    return { ...outcome, executionTimeMs, status: statusOf(outcome) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Failure) return refused(error.message, performance.now() - began);
    log.error({ err: error, tool: call.name, callId: call.callId }, "tool broke");
    return refused(`the tool ${call.name} broke inside the toolhost`, performance.now() - began);
  }
}

function statusOf({ isError, endReason }: ToolOutcome): ToolStatus {
  if (endReason === "timeout") return ToolStatus.TIMED_OUT;
  return isError ? ToolStatus.ERROR : ToolStatus.SUCCESS;
}

function refused(content: string, executionTimeMs = 0): Performed {
  return { content, isError: true, status: ToolStatus.ERROR, executionTimeMs };
}

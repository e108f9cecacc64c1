import { create } from "@bufbuild/protobuf";
import { pluginOfTool } from "@reeve/agent/plugins/plugin-tools";
import { truncateToBytes } from "@reeve/agent/text/truncate-to-bytes";
import type { PinnedPlugin } from "@reeve/contracts/run";
import { ExecutePluginToolRequestSchema } from "@reeve/contracts/extensions/plugin";
import { ToolResultSchema, ToolStatus } from "@reeve/contracts/tool";
import { traceparentOf } from "@reeve/platform/telemetry/spans";
import { resultBytesIn } from "../../domain/budget/frame-caps.ts";
import { approvedCall } from "../../domain/calls/approved-call.ts";
import { refuse, toolResultFact } from "../../domain/calls/tool-result.ts";
import type { Effect } from "../../domain/next-effects.ts";
import { valuesFor } from "../../domain/plugins/hook-request.ts";
import { idOf } from "../../domain/plugins/plugin-state.ts";
import type { Fact } from "../../domain/state/fact.ts";
import { frameOf } from "../../domain/state/run-state.ts";
import type { RunState } from "../../domain/state/run-state.ts";
import { PluginFailure } from "../../ports/plugin-host.ts";
import type { RunPorts } from "../../ports/run-ports.ts";
import { refusalOfCall } from "../policy-now.ts";

type CallPluginTool = Extract<Effect, { kind: "call_plugin_tool" }>;

interface Content {
  readonly content: string;
  readonly isError: boolean;
}

/**
 * Has a plugin execute the call, and yields its result. A call that an earlier owner may have begun is repeated, with the same id, only
 * if its tool is idempotent.
 */
export async function* callPluginTool(
  state: RunState,
  effect: CallPluginTool,
  ports: RunPorts,
  signal: AbortSignal,
): AsyncIterable<readonly Fact[]> {
  const { scope, call, tool, frame } = effect;
  const refusal = refusalOfCall(state, tool, { call, frame }, ports);
  if (refusal !== undefined) {
    const { reason, permission = call.permission } = refusal;
    yield [refuse({ ...call, permission }, scope, reason, ToolStatus.ERROR, ports.clock.now())];
    return;
  }
  const { content, isError } = isLost(state, effect)
    ? failed("its worker was lost during the call, and the outcome of the call is unknown")
    : await executed(state, effect, ports, signal);
  const result = create(ToolResultSchema, {
    callId: call.call.callId,
    name: call.call.name,
    content: truncateToBytes(content, resultBytesIn(state, frameOf(state, frame))),
    isError,
  });
  yield [toolResultFact(call, scope, result, ports.clock.now())];
}

/** Whether an earlier owner may have sent a call that must not be sent twice. */
function isLost({ head, plugins }: RunState, { call, tool }: CallPluginTool): boolean {
  const started = plugins?.startEpochs.get(call.call.callId) ?? 1;
  return (head.claim?.epoch ?? 1) > started && !tool.idempotent;
}

async function executed(
  state: RunState,
  { call, tool }: CallPluginTool,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<Content> {
  const { pluginId, tool: name } = pluginOfTool(tool);
  const pinned: PinnedPlugin | undefined = state.plugins?.pinned.find(
    (each) => idOf(each) === pluginId,
  );
  if (ports.plugins === undefined || pinned?.plugin === undefined) {
    return failed(`worker ${ports.worker} has no plugin ${pluginId}; the call was not made`);
  }
  const { callId, arguments: args } = approvedCall(call);
  const { created, runId } = state.head;
  const request = create(ExecutePluginToolRequestSchema, {
    callId,
    pluginId,
    pluginVersion: pinned.plugin.pluginDescriptor?.version ?? "",
    name,
    ...(args && { arguments: args }),
    tenant: created?.tenant ?? "",
    runId,
    ...(pinned.section && { section: pinned.section }),
    state: valuesFor(state, pinned),
    traceparent: traceparentOf() || (created?.traceparent ?? ""),
  });
  try {
    return await ports.plugins.executeTool(pinned.plugin, request, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof PluginFailure)) throw error;
    const outcome = error.mayHaveBegun
      ? "the outcome of the call is unknown"
      : "the call was not made";
    return failed(`the plugin ${pluginId}: ${error.message}; ${outcome}`);
  }
}

function failed(content: string): Content {
  return { content, isError: true };
}

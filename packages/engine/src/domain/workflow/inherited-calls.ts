import { clone, create } from "@bufbuild/protobuf";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import type { NodeOutputs } from "@reeve/agent/workflow/node-inputs";
import type { NodeTarget } from "@reeve/agent/workflow/node-target";
import { mapTargetOf, targetOf } from "@reeve/agent/workflow/node-target";
import type { WorkflowNode } from "@reeve/contracts/extensions/workflow";
import type { ToolResult, ToolResultMetadata } from "@reeve/contracts/tool";
import { ResultExtent, ToolResultMetadataSchema, ToolResultSchema } from "@reeve/contracts/tool";
import { isBudgetRefusal } from "../budget/over-budget.ts";
import { approvedCall } from "../calls/approved-call.ts";
import type { Fact, Scope } from "../state/fact.ts";
import { fact } from "../state/fact.ts";
import type { Call, Frame } from "../state/frame.ts";
import { rootId, scopeOf } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { rootOf } from "../state/run-state.ts";
import { notExecuted } from "../stop/stopped-call.ts";
import { taskKey } from "../subtasks/outcome.ts";
import { outcomeOfCall } from "./call-value.ts";
import { isRecord } from "./end-workflow.ts";
import { byteLength, callOfStart, maxValueBytes } from "./node-starts.ts";
import { planOf } from "./plan-of.ts";

/** Whether a frame starts no node yet, because calls of the run that it continues are still to come. */
export function awaitsInheritedCalls({ inheritsFrom }: RunState, { id }: Frame): boolean {
  return inheritsFrom !== undefined && id === rootId;
}

/**
 * Returns the facts of the calls that ended in a failed run, each call with its result, for the workflow of the run that continues it,
 * without those that its log has. Those of a node that failed are not among them, nor those that were not made, unless the workflow
 * continued after the failure. Of a map, the items that ended are.
 */
export function inheritedCalls(state: RunState, failed: RunState): readonly (readonly Fact[])[] {
  const before = rootOf(failed);
  const root = rootOf(state);
  if (root.workflow === undefined || before.workflow === undefined) return [];
  const { graph, positions } = planOf(root, root.workflow);
  const known = new Set(root.calls.map(({ call }) => keyOf(call)));
  return before.calls.flatMap((call): readonly (readonly Fact[])[] => {
    const { nodeId, itemIndex } = call.call;
    const node = graph.nodes.get(nodeId);
    if (node === undefined || known.has(keyOf(call.call))) return [];
    const result = resultToInherit(before, node, call);
    if (result === undefined) return [];
    const { name, arguments: args = {} } = approvedCall(call);
    const position = positions.get(nodeId) ?? 0;
    const start = { nodeId, position, item: itemIndex, tool: name, args };
    const runId = call.call.inheritedFrom || failed.head.runId;
    return [factsOf(scopeOf(root), callOfStart(state, root, start), { runId, result })];
  });
}

function keyOf({ nodeId, itemIndex }: Call["call"]): string {
  return JSON.stringify([nodeId, itemIndex]);
}

/** Returns the result of a call that is not made again. Undefined: it is. */
function resultToInherit(frame: Frame, node: WorkflowNode, call: Call): ToolResult | undefined {
  const { result } = call;
  const target = targetOf(node);
  if (result === undefined || target === undefined) return undefined;
  if (call.call.name === finishSubtaskName || !wasMade(result)) return undefined;
  const called = target.kind === "map" ? mapTargetOf(node) : target;
  if (called === undefined) return undefined;
  const outcome = outcomeOfCall(frame, called, call, result, {});
  if (outcome.kind === "failed") {
    return node.properties?.["on_error"] === "continue" ? result : undefined;
  }
  if (called.kind === "approval") return decided(result, outcome.outputs);
  return withWholeAnswer(frame, called, result);
}

/** The result of an approval says what was decided: the new run has no approval that does. */
function decided(result: ToolResult, outputs: NodeOutputs): ToolResult | undefined {
  const value = outputs.get("approved") ?? outputs.get("rejected");
  return value !== undefined && isRecord(value)
    ? create(ToolResultSchema, { ...result, structured: value })
    : undefined;
}

/** The frame of an agent had its whole answer, of which the result may have only the start. The new run has the result alone. */
function withWholeAnswer(frame: Frame, { kind }: NodeTarget, result: ToolResult): ToolResult {
  const isAnswer = kind === "agent" || kind === "workflow" || kind === "model";
  const whole = frame.pendingMemory.get(taskKey(result.callId));
  if (!isAnswer || result.isError || result.structured !== undefined || whole === undefined) {
    return result;
  }
  if (byteLength(whole) > maxValueBytes) return result;
  const metadata = metadataOf(result);
  metadata.extent = ResultExtent.WHOLE;
  return create(ToolResultSchema, { ...result, content: whole, metadata });
}

/** Whether a result is that of a call, and not of one that a failure or a budget of the run kept from being made. */
function wasMade({ isError, content }: ToolResult): boolean {
  return !isError || !(content.startsWith(notExecuted) || isBudgetRefusal(content));
}

interface InheritedResult {
  /** The run that made the call. */
  readonly runId: string;
  readonly result: ToolResult;
}

/** Returns a call with its result, which say that the run has not made it. */
function factsOf(
  scope: Scope,
  call: ReturnType<typeof callOfStart>,
  { runId: inheritedFrom, result }: InheritedResult,
): readonly Fact[] {
  const metadata = metadataOf(result);
  metadata.inheritedFrom = inheritedFrom;
  const value = {
    result: create(ToolResultSchema, { ...result, callId: call.callId, metadata }),
    success: !result.isError,
    error: result.isError ? result.content : "",
    durationMs: metadata.executionTimeMs,
  };
  return [
    fact(scope, { case: "toolCall", value: { ...call, inheritedFrom } }),
    fact(scope, { case: "toolResult", value }),
  ];
}

/** Returns a copy of the metadata of a result. */
function metadataOf({ metadata }: ToolResult): ToolResultMetadata {
  return clone(ToolResultMetadataSchema, metadata ?? create(ToolResultMetadataSchema));
}

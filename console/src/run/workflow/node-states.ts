import type { JsonValue } from "@bufbuild/protobuf";
import { outputsOfResult } from "@reeve/agent/workflow/call-outputs";
import type { NodeInputs, NodeOutputs } from "@reeve/agent/workflow/node-inputs";
import { inputsOf } from "@reeve/agent/workflow/node-inputs";
import { mapTargetOf, targetOf } from "@reeve/agent/workflow/node-target";
import { errorHandle } from "@reeve/agent/workflow/node-type";
import { topology } from "@reeve/agent/workflow/topology";
import { ApprovalState } from "@reeve/contracts/approval";
import type { WorkflowNode } from "@reeve/contracts/extensions/workflow";
import type { NamedTone } from "../../format/names.ts";
import { stateOfCall } from "../call-state.ts";
import type { CallItem, RunModel } from "../run-model.ts";
import type { RunGraph } from "./run-graphs.ts";
import { pureOutputs } from "./pure-outputs.ts";

/** How a node of a run is doing. */
export interface NodeState extends NamedTone {
  /** More about it: how many calls of a map have ended. */
  readonly detail: string;
  /** The calls that it made, in the order in which they began. */
  readonly calls: readonly CallItem[];
}

/**
 * Returns how the nodes of a graph are doing. The calls of a node say it; what has no calls follows from the nodes before it, as the
 * engine decides it. Where a large result left out the value that decides, a node counts as not reached.
 */
export function nodeStates(run: RunModel, given: RunGraph): ReadonlyMap<string, NodeState> {
  const { frame, graph, typeOf } = given;
  const calls = Map.groupBy(
    frame.items.flatMap((item) => (item.kind === "call" ? [item] : [])),
    ({ call }) => call.nodeId,
  );
  const isOver = run.endedAtMs !== undefined || frame.state !== "running";
  const failed = failedNode(run, given);
  const nodes = topology(graph);
  const outputs = new Map<string, NodeOutputs>();
  const states = new Map<string, NodeState>();
  for (const id of nodes.order) {
    const node = nodes.nodes.get(id);
    if (node === undefined) continue;
    const own = calls.get(id) ?? [];
    const inputs = inputsOf(node, nodes, { typeOf, outputsOf: (each) => outputs.get(each) });
    const found =
      own.length > 0
        ? stateOfCalls(node, own, inputs, run)
        : stateWithoutCalls(node, inputs, given.input, isOver);
    if (found.outputs !== undefined) outputs.set(id, found.outputs);
    const isFailed = id === failed && found.state.tone !== "bad";
    const { name, tone } = isFailed ? failure : found.state;
    states.set(id, { name, tone, detail: found.detail ?? "", calls: own });
  }
  return states;
}

interface Found {
  readonly state: NamedTone;
  readonly detail?: string;
  /** Undefined: the node has not ended. */
  readonly outputs?: NodeOutputs;
}

const failure: NamedTone = { name: "failed", tone: "bad" };
const done: NamedTone = { name: "done", tone: "ok" };
const skipped: NamedTone = { name: "skipped", tone: "idle" };
const nothing: NodeOutputs = new Map();

function stateWithoutCalls(
  node: WorkflowNode,
  inputs: NodeInputs,
  message: string,
  isOver: boolean,
): Found {
  switch (inputs.kind) {
    case "skipped":
      return { state: skipped, outputs: nothing };
    case "ready": {
      const outputs = pureOutputs(node, inputs.inputs, message);
      if (outputs !== undefined) return { state: done, outputs };
      return isOver ? notReached : { state: { name: "next", tone: "idle" } };
    }
    case "waiting":
    case "failed":
      return isOver ? notReached : { state: { name: "waiting", tone: "idle" } };
  }
}

const notReached: Found = { state: { name: "not reached", tone: "idle" } };

function stateOfCalls(
  node: WorkflowNode,
  calls: readonly CallItem[],
  inputs: NodeInputs,
  run: RunModel,
): Found {
  const target = targetOf(node);
  if (target?.kind === "map") return stateOfMap(node, calls, inputs, run);
  const [call] = calls;
  if (call === undefined) return { state: skipped };
  const state = stateOfCall(call, run);
  const { result } = call;
  if (result?.result === undefined || target === undefined) return { state };
  if (target.kind === "approval") {
    const { name, outputs } = outputOfApproval(call, run);
    return { state: { name, tone: name === "approved" ? "ok" : "wait" }, outputs };
  }
  if (!result.success) return failureOf(node, state, result.error || result.result.content);
  if (target.kind === "delay") {
    const value = (inputs.kind === "ready" ? inputs.inputs["value"] : null) ?? null;
    return { state, outputs: new Map([["value", value]]) };
  }
  return { state, outputs: outputsOfResult(target, result.result) };
}

/** A node that may fail gives the message of its error. */
function failureOf(node: WorkflowNode, state: NamedTone, message: string): Found {
  if (node.properties?.["on_error"] !== "continue") return { state };
  const outputs = new Map<string, JsonValue>([[errorHandle, message]]);
  return { state: { name: `${state.name}, continued`, tone: "wait" }, outputs };
}

function outputOfApproval(
  call: CallItem,
  run: RunModel,
): { readonly name: string; readonly outputs: NodeOutputs } {
  const approval = run.approvals.get(call.approvalId);
  const isApproved = call.result?.success === true;
  const name = isApproved
    ? "approved"
    : approval?.state === ApprovalState.TIMED_OUT
      ? "expired"
      : "rejected";
  const value = {
    decision: name === "expired" ? "timed_out" : name,
    comment: approval?.decision?.reason ?? "",
    value: call.call.arguments?.["value"] ?? null,
  };
  return { name, outputs: new Map([[isApproved ? "approved" : "rejected", value]]) };
}

function stateOfMap(
  node: WorkflowNode,
  calls: readonly CallItem[],
  inputs: NodeInputs,
  run: RunModel,
): Found {
  const items = inputs.kind === "ready" ? inputs.inputs["items"] : undefined;
  const total = Array.isArray(items) ? Math.max(items.length, calls.length) : calls.length;
  const ended = calls.filter(({ result }) => result !== undefined);
  const failed = ended.filter(({ result }) => result?.success !== true);
  const detail = `${ended.length} of ${total}${failed.length > 0 ? `, ${failed.length} failed` : ""}`;
  const continues = node.properties?.["on_error"] === "continue";
  if (failed.length > 0 && !continues) return { state: failure, detail };
  if (ended.length < total) {
    const open = calls.find(({ result }) => result === undefined);
    const state = open === undefined ? undefined : stateOfCall(open, run);
    return { state: state ?? { name: "running", tone: "busy" }, detail };
  }
  const target = mapTargetOf(node);
  const results: JsonValue[] = [];
  for (const { call, result } of calls) {
    const value = result?.result;
    const outputs = value && target && result.success ? outputsOfResult(target, value) : nothing;
    results[call.itemIndex] = outputs.get("result") ?? { error: value?.content ?? "" };
  }
  const state = failed.length > 0 ? { name: "done", tone: "wait" as const } : done;
  return { state, detail, outputs: new Map([["results", results]]) };
}

/** Returns the node that the error of the run, or of the part of it, names. */
function failedNode({ error }: RunModel, { frame }: RunGraph): string | undefined {
  const message = frame.kind === "root" ? (error?.message ?? "") : frame.message;
  return /\bnode "([^"]+)" failed/.exec(message)?.[1];
}

import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { MapCall, MapCalls } from "@reeve/agent/workflow/map-calls";
import { mapCalls } from "@reeve/agent/workflow/map-calls";
import type { NodeCall } from "@reeve/agent/workflow/node-call";
import { callOf, toolOf } from "@reeve/agent/workflow/node-call";
import type { NodeTarget } from "@reeve/agent/workflow/node-target";
import { mapTargetOf } from "@reeve/agent/workflow/node-target";
import { joinedProblem } from "@reeve/agent/workflow/value-limits";
import { isReservedTool, waitTools } from "@reeve/agent/workflow/wait-tools";
import type { WorkflowNode } from "@reeve/contracts/extensions/workflow";
import type { ToolResult } from "@reeve/contracts/tool";
import type { Call } from "../state/frame.ts";
import type { CallOutcome } from "./call-value.ts";
import { outcomeOfCall } from "./call-value.ts";
import type { GivenNode, NodeProgress } from "./node-progress.ts";
import type { NodeStart } from "./node-starts.ts";
import { argumentsProblem } from "./node-starts.ts";

/** Returns how far a node is that makes calls, and has its inputs. */
export function progressOfCalls(
  node: WorkflowNode,
  target: NodeTarget,
  given: GivenNode,
  inputs: JsonObject,
): NodeProgress {
  if (target.kind === "map") return progressOfMap(node, given, inputs);
  const [call] = given.calls;
  const problem = call === undefined ? joinedProblem(inputs) : undefined;
  if (problem !== undefined) {
    return { kind: "failed", problem: `its inputs are too large or too deep: ${problem}` };
  }
  if (call === undefined) {
    const first = callOfNode(node, target, inputs);
    const start = first === undefined ? { problem: "it calls nothing" } : { call: first };
    return starting(node, given, [[0, start]]);
  }
  if (call.result === undefined) return running;
  return outcomeOfCall(given.frame, target, call, call.result, inputs);
}

const running: NodeProgress = { kind: "running", starts: [] };

/** Returns the progress of a node that starts these calls. Builds none after one that has a problem. */
function starting(
  node: WorkflowNode,
  { plan }: GivenNode,
  planned: Iterable<readonly [item: number, call: MapCall]>,
): NodeProgress {
  const position = plan.positions.get(node.id) ?? 0;
  const starts: NodeStart[] = [];
  for (const [item, { call, problem }] of planned) {
    const found = problem ?? problemOf(call);
    if (found !== undefined) return { kind: "failed", problem: found };
    if (call !== undefined) starts.push({ nodeId: node.id, position, item, ...call });
  }
  return { kind: "running", starts };
}

function problemOf({ tool, args }: NodeCall): string | undefined {
  return argumentsProblem(args) ?? (tool === "" ? "it names no tool" : undefined);
}

function callOfNode(
  node: WorkflowNode,
  target: NodeTarget,
  inputs: JsonObject,
): NodeCall | undefined {
  const { properties = {} } = node;
  const { value } = inputs;
  switch (target.kind) {
    case "approval": {
      const question = properties["question"] ?? "";
      return {
        tool: waitTools.approval,
        args: { question, ...(value !== undefined && { value }) },
      };
    }
    case "delay":
      return { tool: waitTools.delay, args: { seconds: properties["seconds"] ?? null } };
    default: {
      const call = callOf(target, node, inputs);
      return call === undefined || isReservedTool(call.tool) ? undefined : call;
    }
  }
}

const callsOfMaps = new WeakMap<JsonObject, MapCalls>();

/** Returns the calls of a map: the same object for the same object of inputs. */
function knownMapCalls(node: WorkflowNode, { plan }: GivenNode, inputs: JsonObject): MapCalls {
  const before = callsOfMaps.get(inputs);
  if (before !== undefined) return before;
  const calls = mapCalls(node, inputs, plan.catalog);
  callsOfMaps.set(inputs, calls);
  return calls;
}

const outcomesOfItems = new WeakMap<Call, CallOutcome>();

/** Returns what an item gave: the same object for the same call, because each event looks at all items. */
function outcomeOfItem(
  { frame }: GivenNode,
  target: NodeTarget,
  call: Call,
  result: ToolResult,
): CallOutcome {
  const before = outcomesOfItems.get(call);
  if (before !== undefined) return before;
  const outcome = outcomeOfCall(frame, target, call, result, {});
  outcomesOfItems.set(call, outcome);
  return outcome;
}

function progressOfMap(node: WorkflowNode, given: GivenNode, inputs: JsonObject): NodeProgress {
  const planned = knownMapCalls(node, given, inputs);
  const target = mapTargetOf(node);
  if (planned.kind === "failed") return planned;
  const tool = target && toolOf(target);
  if (target === undefined || tool === undefined || isReservedTool(tool)) {
    return { kind: "failed", problem: "it names nothing that a map can call" };
  }
  const byItem = new Map(given.calls.map((call) => [call.call.itemIndex, call]));
  const results: JsonValue[] = [];
  let cutBy = "";
  for (const [item, call] of byItem) {
    if (call.result === undefined) continue;
    const outcome = outcomeOfItem(given, target, call, call.result);
    if (outcome.kind === "ended") {
      results[item] = outcome.outputs.get("result") ?? null;
      cutBy ||= outcome.cutBy;
    } else if (node.properties?.["on_error"] === "continue") {
      results[item] = { error: outcome.problem };
    } else return { kind: "failed", problem: `item ${item}: ${outcome.problem}` };
  }
  const isDone = given.calls.every(({ result }) => result !== undefined);
  if (isDone && byItem.size === planned.count) {
    return { kind: "ended", outputs: new Map([["results", results]]), cutBy };
  }
  return starting(node, given, nextItems(node, given, planned, byItem));
}

/** Yields the next items with their calls, no more than the map permits to be open, and than there is room for. */
function* nextItems(
  { properties = {} }: WorkflowNode,
  { calls, room }: GivenNode,
  { count, callAt }: Extract<MapCalls, { readonly kind: "calls" }>,
  byItem: ReadonlyMap<number, Call>,
): Generator<readonly [item: number, call: MapCall]> {
  const { max_parallel: own } = properties;
  const open = calls.filter(({ result }) => result === undefined).length;
  let left = typeof own === "number" ? Math.min(own - open, room) : room;
  for (let item = 0; item < count && left > 0; item++) {
    if (byItem.has(item)) continue;
    left -= 1;
    yield [item, callAt(item)];
  }
}

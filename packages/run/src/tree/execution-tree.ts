import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { RunEvent, SubtaskChanged, ToolResultEvent } from "@reeve/contracts/run";
import { Phase } from "@reeve/contracts/run";
import type { ExecutionTree, ExecutionTreeNodeSchema } from "@reeve/contracts/thread";
import { ExecutionTreeSchema } from "@reeve/contracts/thread";
import type { ToolCall } from "@reeve/contracts/tool";

/** What a run has done so far, by id of the node, in the order in which the nodes began. Never changed in place. */
export type TreeNodes = ReadonlyMap<string, TreeNode>;

type TreeNode = MessageInitShape<typeof ExecutionTreeNodeSchema> & {
  readonly id: string;
  readonly startedAtMs: number;
};

/** Characters of arguments and results that a node shows. */
const previewCharacters = 500;

/** The nodes after one more event. What the planner does is no part of the tree. */
export function treeAfter(nodes: TreeNodes, envelope: RunEvent): TreeNodes {
  if (envelope.phase === Phase.PLANNER) return nodes;
  const { event, parentId } = envelope;
  switch (event.case) {
    case "toolCall":
      return withNode(nodes, callNode(event.value, parentId, msOf(envelope)));
    case "toolResult":
      return ended(nodes, event.value);
    case "subtask":
      return subtaskChanged(nodes, event.value, msOf(envelope));
    default:
      return nodes;
  }
}

/** The tree of a run, all of it. */
export function treeOf(nodes: TreeNodes): ExecutionTree {
  return create(ExecutionTreeSchema, {
    version: 1,
    nodes: [...nodes.values()],
  });
}

/** The beginning of a text, none of its characters cut. */
export function previewOf(text: string, characters = previewCharacters): string {
  return Array.from(text.slice(0, characters * 2))
    .slice(0, characters)
    .join("");
}

function callNode(call: ToolCall, parentId: string, startedAtMs: number): TreeNode {
  const { callId, name, rawArguments } = call;
  const args = call.arguments === undefined ? rawArguments : JSON.stringify(call.arguments);
  return {
    id: callId,
    parentId,
    name,
    argsPreview: previewOf(args),
    unfinished: true,
    startedAtMs,
  };
}

function ended(nodes: TreeNodes, { result, success, durationMs }: ToolResultEvent): TreeNodes {
  const node = nodes.get(result?.callId ?? "");
  if (node === undefined || result === undefined) return nodes;
  const resultPreview = previewOf(result.content);
  return withNode(nodes, {
    ...node,
    resultPreview,
    isError: !success,
    durationMs,
    unfinished: false,
  });
}

/** The one child of a call is the node of the call itself; each job of a parallel call has a node below it. */
function subtaskChanged(nodes: TreeNodes, subtask: SubtaskChanged, nowMs: number): TreeNodes {
  const { subtaskId, callId, title, isError, resultPreview } = subtask;
  const known = nodes.get(subtaskId);
  if (subtaskId === callId)
    return known === undefined ? nodes : withNode(nodes, { ...known, title });
  const node: TreeNode = known ?? {
    id: subtaskId,
    parentId: callId,
    name: "subtask",
    title,
    unfinished: true,
    startedAtMs: nowMs,
  };
  if (!subtask.ended) return withNode(nodes, node);
  const durationMs = Math.max(0, nowMs - node.startedAtMs);
  return withNode(nodes, { ...node, isError, resultPreview, durationMs, unfinished: false });
}

function withNode(nodes: TreeNodes, node: TreeNode): TreeNodes {
  return new Map(nodes).set(node.id, node);
}

function msOf({ time }: RunEvent): number {
  return time === undefined ? 0 : timestampMs(time);
}

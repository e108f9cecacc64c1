import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { RunEvent, SubtaskChanged, ToolResultEvent } from "@reeve/contracts/run";
import { Phase } from "@reeve/contracts/run";
import type { ExecutionTree, ExecutionTreeNodeSchema } from "@reeve/contracts/thread";
import { ExecutionTreeSchema } from "@reeve/contracts/thread";
import type { PermissionDecision, ToolCall } from "@reeve/contracts/tool";
import type { Linked } from "../head/linked.ts";
import { linked, oldestFirst } from "../head/linked.ts";
import { previewOf } from "./preview-of.ts";

/**
 * What a run has done so far, as the changes to its execution tree; undefined: nothing. The fold only appends, and `treeOf`
 * builds the nodes, so that folding stays linear however many nodes a run has.
 */
export type TreeChanges = Linked<TreeChange> | undefined;

type TreeChange =
  | { readonly kind: "called"; readonly node: TreeNode }
  | { readonly kind: "returned"; readonly id: string; readonly result: Result }
  | { readonly kind: "subtask"; readonly subtask: Subtask };

type TreeNode = MessageInitShape<typeof ExecutionTreeNodeSchema> & {
  readonly id: string;
  readonly startedAtMs: number;
};

interface Result {
  /** The start of the arguments that a person put in place of the model's; empty: nobody did. */
  readonly editedArguments: string;
  /** What the permission rules decided. */
  readonly permission: PermissionDecision | undefined;
  readonly resultPreview: string;
  readonly isError: boolean;
  readonly durationMs: number;
}

interface Subtask {
  readonly id: string;
  readonly callId: string;
  readonly title: string;
  readonly timeMs: number;
  /** Undefined: the subtask began. */
  readonly end: Pick<Result, "resultPreview" | "isError"> | undefined;
}

/** Returns the changes after one more event. What the planner does is not part of the tree. */
export function treeAfter(changes: TreeChanges, envelope: RunEvent): TreeChanges {
  if (envelope.phase === Phase.PLANNER) return changes;
  const { event, parentId } = envelope;
  switch (event.case) {
    case "toolCall":
      return linked(changes, called(event.value, parentId, msOf(envelope)));
    case "toolResult":
      return returned(changes, event.value);
    case "subtask":
      return linked(changes, subtaskChanged(event.value, msOf(envelope)));
    case "runCreated":
    case "runClaimed":
    case "runParked":
    case "runPrepared":
    case "status":
    case "step":
    case "text":
    case "reasoning":
    case "textVoided":
    case "toolCallStarted":
    case "mcpProgress":
    case "approval":
    case "plan":
    case "context":
    case "usage":
    case "modelCallStarted":
    case "modelTurn":
    case "modelCallFailed":
    case "modelRetryDue":
    case "tokensCounted":
    case "clientCall":
    case "pluginsPinned":
    case "workflowPrepared":
    case "mediaPrepared":
    case "workflowContinued":
    case "mediaCallStarted":
    case "mediaCallEnded":
    case "remoteTask":
    case "pluginHookFinished":
    case "runEnding":
    case "messageSubmitted":
    case "messageInjected":
    case "memoryWritten":
    case "todosChanged":
    case "cancelRequested":
    case "budgetExceeded":
    case "error":
    case "costSummary":
    case "treeStored":
    case undefined:
      return changes;
    default:
      return event satisfies never;
  }
}

function called(call: ToolCall, parentId: string, startedAtMs: number): TreeChange {
  const { callId: id, name, rawArguments, nodeId } = call;
  const args = call.arguments === undefined ? rawArguments : JSON.stringify(call.arguments);
  const argsPreview = previewOf(args);
  return {
    kind: "called",
    node: { id, parentId, name, nodeId, argsPreview, unfinished: true, startedAtMs },
  };
}

function returned(
  changes: TreeChanges,
  { result, success, durationMs }: ToolResultEvent,
): TreeChanges {
  if (result === undefined) return changes;
  // Only the preview is kept: a result may be large.
  const resultPreview = previewOf(result.content);
  return linked(changes, {
    kind: "returned",
    id: result.callId,
    result: {
      editedArguments: result.metadata?.editedArguments ?? "",
      permission: result.metadata?.permission,
      resultPreview,
      isError: !success,
      durationMs,
    },
  });
}

function subtaskChanged(changed: SubtaskChanged, timeMs: number): TreeChange {
  const { subtaskId: id, callId, title, ended, isError, resultPreview } = changed;
  const end = ended ? { isError, resultPreview } : undefined;
  return { kind: "subtask", subtask: { id, callId, title, timeMs, end } };
}

/** Returns the whole execution tree, its nodes in the order in which they began. */
export function treeOf(changes: TreeChanges): ExecutionTree {
  const nodes = new Map<string, TreeNode>();
  for (const change of oldestFirst(changes)) {
    const node = nodeAfter(nodes, change);
    if (node !== undefined) nodes.set(node.id, node);
  }
  return create(ExecutionTreeSchema, { version: 1, nodes: [...nodes.values()] });
}

/** Returns the node that a change adds or replaces. */
function nodeAfter(nodes: ReadonlyMap<string, TreeNode>, change: TreeChange): TreeNode | undefined {
  switch (change.kind) {
    case "called":
      return change.node;
    case "returned": {
      const node = nodes.get(change.id);
      if (node === undefined) return undefined;
      const { editedArguments, permission, ...result } = change.result;
      const edited =
        editedArguments === "" ? {} : { argsPreview: previewOf(editedArguments), argsEdited: true };
      const decided = permission && { permission };
      return { ...node, ...result, ...edited, ...decided, unfinished: false };
    }
    case "subtask":
      return subtaskNode(nodes, change.subtask);
  }
}

/**
 * The only subtask of a call shares the node of the call; each subtask of a parallel call has a node below the call.
 */
function subtaskNode(
  nodes: ReadonlyMap<string, TreeNode>,
  { id, callId, title, timeMs, end }: Subtask,
): TreeNode | undefined {
  const known = nodes.get(id);
  if (id === callId) return known && { ...known, title };
  const node = known ?? {
    id,
    parentId: callId,
    name: "subtask",
    title,
    unfinished: true,
    startedAtMs: timeMs,
  };
  if (end === undefined) return node;
  const durationMs = Math.max(0, timeMs - node.startedAtMs);
  return { ...node, ...end, durationMs, unfinished: false };
}

function msOf({ time }: RunEvent): number {
  return time === undefined ? 0 : timestampMs(time);
}

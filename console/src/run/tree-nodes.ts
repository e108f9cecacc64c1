import type { CallItem, Frame, RunModel } from "./run-model.ts";

/** A call or a subtask in the execution tree. */
export interface TreeNode {
  readonly id: string;
  readonly depth: number;
  /** Undefined: a subtask of a call that started several. */
  readonly call: CallItem | undefined;
  /** Undefined: a call without a subtask. */
  readonly frame: Frame | undefined;
  readonly children: readonly TreeNode[];
}

/** Returns the execution tree of a run, in the order in which calls and subtasks began. What the planner does is not part of it. */
export function treeNodesOf({ root }: RunModel): readonly TreeNode[] {
  return nodesIn(root, 0);
}

function nodesIn(frame: Frame, depth: number): readonly TreeNode[] {
  return frame.items.flatMap((item) => (item.kind === "call" ? [nodeOf(item, depth)] : []));
}

function nodeOf(call: CallItem, depth: number): TreeNode {
  const id = call.call.callId;
  const [only] = call.subtasks;
  // The only subtask of a call shares its node.
  if (only !== undefined && only.id === id) {
    return { id, depth, call, frame: only, children: nodesIn(only, depth + 1) };
  }
  const children = call.subtasks.map((frame) => ({
    id: frame.id,
    depth: depth + 1,
    call: undefined,
    frame,
    children: nodesIn(frame, depth + 2),
  }));
  return { id, depth, call, frame: undefined, children };
}

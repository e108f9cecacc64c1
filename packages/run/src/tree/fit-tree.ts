import { create, toBinary } from "@bufbuild/protobuf";
import type { ExecutionTree, ExecutionTreeNode } from "@reeve/contracts/thread";
import { ExecutionTreeNodeSchema, ExecutionTreeSchema } from "@reeve/contracts/thread";
import type { TreeChanges } from "./execution-tree.ts";
import { treeOf } from "./execution-tree.ts";
import { previewOf } from "./preview-of.ts";

/** Lengths of previews, in characters, that are tried in this order until the tree fits. */
const previewLengths = [200, 50, 0] as const;
/** A title keeps at least this many characters. */
const minTitleLength = 50;
/** Bytes of the tag and the length of a node. */
const nodeOverhead = 6;
/** Maximum size of a stored tree, which shares one batch with the end of its run. */
const maxStoredBytes = 256 * 1024;

/** Returns the tree of a run, small enough for its log. */
export function storedTreeOf(changes: TreeChanges): ExecutionTree {
  return fitTree(treeOf(changes), maxStoredBytes);
}

/** Reduces a tree to at most `maxBytes`: shortens its previews first, then drops its newest nodes. */
export function fitTree(tree: ExecutionTree, maxBytes: number): ExecutionTree {
  let fitting = tree;
  for (const characters of previewLengths) {
    if (toBinary(ExecutionTreeSchema, fitting).length <= maxBytes) return fitting;
    const nodes = tree.nodes.map((node) => withPreviews(node, characters));
    fitting = create(ExecutionTreeSchema, { version: tree.version, nodes });
  }
  let room = maxBytes - nodeOverhead;
  const end = fitting.nodes.findIndex((node) => {
    room -= toBinary(ExecutionTreeNodeSchema, node).length + nodeOverhead;
    return room < 0;
  });
  // A node follows its parent, so the beginning of the list is a tree too.
  const nodes = end === -1 ? fitting.nodes : fitting.nodes.slice(0, end);
  return create(ExecutionTreeSchema, { version: tree.version, nodes });
}

function withPreviews(node: ExecutionTreeNode, characters: number): ExecutionTreeNode {
  return {
    ...node,
    title: previewOf(node.title, Math.max(characters, minTitleLength)),
    argsPreview: previewOf(node.argsPreview, characters),
    resultPreview: previewOf(node.resultPreview, characters),
  };
}

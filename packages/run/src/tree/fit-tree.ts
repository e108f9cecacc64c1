import { create, toBinary } from "@bufbuild/protobuf";
import type { TreeNodes } from "./execution-tree.ts";
import { previewOf, treeOf } from "./execution-tree.ts";
import type { ExecutionTree, ExecutionTreeNode } from "@reeve/contracts/thread";
import { ExecutionTreeNodeSchema, ExecutionTreeSchema } from "@reeve/contracts/thread";

/** Characters of previews that are left, one after the other until the tree fits. */
const previews = [200, 50, 0] as const;
/** A node costs its tag and its length too. */
const nodeOverhead = 6;

/** What a stored tree may take: it stands in one batch with the end of its run. */
const maxStoredBytes = 256 * 1024;

/** The tree of a run, as it stands in its log. */
export function storedTreeOf(nodes: TreeNodes): ExecutionTree {
  return fitTree(treeOf(nodes), maxStoredBytes);
}

/** The tree so that it takes at most `maxBytes`: with shorter previews, and at last without the newest nodes. */
export function fitTree(tree: ExecutionTree, maxBytes: number): ExecutionTree {
  let fitting = tree;
  for (const characters of previews) {
    if (toBinary(ExecutionTreeSchema, fitting).length <= maxBytes) return fitting;
    const nodes = tree.nodes.map((node) => withPreviews(node, characters));
    fitting = create(ExecutionTreeSchema, { version: tree.version, nodes });
  }
  let room = maxBytes - nodeOverhead;
  const end = fitting.nodes.findIndex((node) => {
    room -= toBinary(ExecutionTreeNodeSchema, node).length + nodeOverhead;
    return room < 0;
  });
  // A node comes after its parent: a beginning of the list is a tree.
  const nodes = end === -1 ? fitting.nodes : fitting.nodes.slice(0, end);
  return create(ExecutionTreeSchema, { version: tree.version, nodes });
}

function withPreviews(node: ExecutionTreeNode, characters: number): ExecutionTreeNode {
  return {
    ...node,
    title: previewOf(node.title, Math.max(characters, 50)),
    argsPreview: previewOf(node.argsPreview, characters),
    resultPreview: previewOf(node.resultPreview, characters),
  };
}

import type { ExecutionTree, ExecutionTreeNode } from "@reeve/contracts/thread";
import type { Colours } from "../terminal.ts";
import { formatMs } from "./numbers.ts";
import { oneLine } from "./plain-text.ts";

/** An execution tree, one node a line, children below their parents. */
export function renderTree(
  { nodes }: ExecutionTree,
  { colours, columns }: { readonly colours: Colours; readonly columns: number },
): string {
  const children = Map.groupBy(nodes, ({ parentId }) => parentId);
  const linesBelow = (parentId: string, depth: number): readonly string[] =>
    (children.get(parentId) ?? []).flatMap((node) => [
      nodeLine(node, depth, colours, Math.max(columns - 40 - 2 * depth, 20)),
      ...linesBelow(node.id, depth + 1),
    ]);
  return linesBelow("", 0).join("");
}

function nodeLine(node: ExecutionTreeNode, depth: number, colours: Colours, width: number): string {
  const { name, title, argsPreview, durationMs, unfinished } = node;
  const about = oneLine(title === "" ? argsPreview : title, width);
  const ms = unfinished ? "unfinished" : formatMs(durationMs);
  return `${"  ".repeat(depth)}${markOf(node, colours)} ${colours.bold(oneLine(name, 128))} ${about} ${colours.dim(ms)}\n`;
}

function markOf({ unfinished, isError }: ExecutionTreeNode, colours: Colours): string {
  if (unfinished) return colours.cyan("…");
  return isError ? colours.red("✗") : colours.green("✓");
}

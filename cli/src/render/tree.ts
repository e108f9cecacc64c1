import type { ExecutionTree, ExecutionTreeNode } from "@reeve/contracts/thread";
import type { Style } from "../style.ts";
import { formatMs } from "./numbers.ts";
import { renderPermission } from "./permission.ts";
import { oneLine } from "./plain-text.ts";

/** More characters than the preview of a result has. */
const maxReason = 4_000;
/** The length of the longest rule, with its owner. */
const maxPermission = 1_200;

/** Renders an execution tree with one node per line, children below their parents, and below a failed node why it failed. */
export function renderTree(
  { nodes }: ExecutionTree,
  { style, columns }: { readonly style: Style; readonly columns: number },
): string {
  const children = Map.groupBy(nodes, ({ parentId }) => parentId);
  const linesBelow = (parentId: string, depth: number): readonly string[] =>
    (children.get(parentId) ?? []).flatMap((node) => [
      nodeLine(node, depth, style, Math.max(columns - 40 - 2 * depth, 20)),
      ...errorLines(node, depth),
      ...linesBelow(node.id, depth + 1),
    ]);
  return linesBelow("", 0).join("");
}

function nodeLine(node: ExecutionTreeNode, depth: number, style: Style, width: number): string {
  const { title, argsPreview, argsEdited, durationMs, unfinished, permission } = node;
  const about = oneLine(title === "" ? argsPreview : title, width);
  const subject = about === "" ? "" : ` ${about}`;
  const edited = argsEdited ? ` ${style("yellow", "(edited)")}` : "";
  const name = node.nodeId === "" ? node.name : `${node.nodeId} · ${node.name}`;
  const rule = renderPermission(permission, maxPermission);
  const decided = rule === "" ? "" : ` ${style("dim", `[${rule}]`)}`;
  // A call that waited for a decision and was never made has no duration.
  const time = unfinished ? " unfinished" : durationMs > 0 ? ` ${formatMs(durationMs)}` : "";
  return `${"  ".repeat(depth)}${markOf(node, style)} ${style("bold", oneLine(name, 128))}${subject}${edited}${decided}${style("dim", time)}\n`;
}

/** A reason is not cut: its end often says how to fix it. A tree has at most a preview of it. */
function errorLines(
  { isError, resultPreview }: ExecutionTreeNode,
  depth: number,
): readonly string[] {
  if (!isError || resultPreview === "") return [];
  return [`${"  ".repeat(depth)}    ${oneLine(resultPreview, maxReason)}\n`];
}

function markOf({ unfinished, isError }: ExecutionTreeNode, style: Style): string {
  if (unfinished) return style("cyan", "…");
  return isError ? style("red", "✗") : style("green", "✓");
}

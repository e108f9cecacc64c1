import type { JsonObject } from "@bufbuild/protobuf";
import type { ToolResultEvent } from "@reeve/contracts/run";
import type { ToolCall, ToolProgress } from "@reeve/contracts/tool";
import type { Style } from "../style.ts";
import { formatMs } from "./numbers.ts";
import { oneLine } from "./plain-text.ts";

/** The width that is left beside other words of the line. Some text is always shown. */
const minWidth = 10;

export function renderCall(call: ToolCall, style: Style, width: number): readonly string[] {
  const node = nodeOf(call);
  const name = node === "" ? oneLine(call.name, 128) : `${node} · ${oneLine(call.name, 128)}`;
  const args = call.arguments === undefined ? call.rawArguments : shortArguments(call.arguments);
  const left = Math.max(width - name.length, minWidth);
  const made = call.inheritedFrom === "" ? "" : ` ${style("dim", `in ${call.inheritedFrom}`)}`;
  const shown = `${made}${args === "" ? "" : ` ${style("dim", oneLine(args, left))}`}`;
  return [`    ${style("cyan", "→")} ${style("bold", name)}${shown}`];
}

/** Names the node of a workflow that made a call. Empty: a model made it. */
function nodeOf({ nodeId, itemIndex }: ToolCall): string {
  if (nodeId === "") return "";
  return itemIndex === 0 ? nodeId : `${nodeId} ${itemIndex + 1}`;
}

export function renderProgress(
  { name, progress, total, message }: ToolProgress,
  style: Style,
  width: number,
): readonly string[] {
  const count = total === undefined ? `${progress}` : `${progress}/${total}`;
  const line = oneLine(`… ${oneLine(name, 128)} ${count} ${message}`, Math.max(width, minWidth));
  return [`    ${style("dim", line)}`];
}

export function renderResult(
  { result, success, error, durationMs }: ToolResultEvent,
  style: Style,
  width: number,
): readonly string[] {
  const name = oneLine(result?.name ?? "", 128);
  // A call that waited for a decision and was never made has no duration.
  const duration = durationMs > 0 ? ` ${formatMs(durationMs)}` : "";
  const ms = style("dim", duration);
  const content = result?.content ?? "";
  const left = Math.max(width - name.length - duration.length, minWidth);
  const text = oneLine(success ? content : error || content, left);
  return success
    ? [`    ${style("green", "✓")} ${name}${ms} ${style("dim", text)}`]
    : [`    ${style("red", "✗")} ${name}${ms} ${text}`];
}

/** Formats arguments for skimming: `path="data.csv", limit=10`. Truncates values that are longer than `maxValue`. */
export function shortArguments(args: JsonObject, maxValue = 60): string {
  return Object.entries(args)
    .map(([name, value]) => `${name}=${oneLine(JSON.stringify(value), maxValue)}`)
    .join(", ");
}

import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { IncompleteReason, StatusChanged } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import type { Style } from "../style.ts";
import { incompleteName } from "./incomplete.ts";
import { formatCost, formatMs, millisOf, plural } from "./numbers.ts";
import { oneLine } from "./plain-text.ts";
import type { TraceState } from "./trace/trace-state.ts";

/** Renders the last line of a run: how it ended, its duration, its cost, and how many tool calls failed. Empty if the status is not terminal. */
export function renderEnd(
  { startedMs, cost, failedCalls }: TraceState,
  { status, message, incompleteReason }: StatusChanged,
  time: Timestamp | undefined,
  style: Style,
): readonly string[] {
  const mark = markOf(status, incompleteReason, style);
  if (mark === undefined) return [];
  const duration =
    time === undefined || startedMs === undefined
      ? ""
      : ` in ${formatMs(Math.max(millisOf(time) - startedMs, 0))}`;
  const parts = [`${mark}${duration}`];
  if (message !== "") parts.push(oneLine(message, 500));
  if (cost !== undefined) parts.push(formatCost(cost));
  if (failedCalls > 0) parts.push(style("yellow", `${plural(failedCalls, "tool call")} failed`));
  return [parts.join(" · ")];
}

function markOf(
  status: RunStatus,
  incompleteReason: IncompleteReason,
  style: Style,
): string | undefined {
  if (status === RunStatus.COMPLETED) {
    const incomplete = incompleteName(incompleteReason);
    return incomplete === ""
      ? style("green", "✓ completed")
      : style("yellow", `! completed, ${incomplete}`);
  }
  if (status === RunStatus.ERROR) return style("red", "✗ failed");
  return status === RunStatus.CANCELLED ? style("yellow", "■ cancelled") : undefined;
}

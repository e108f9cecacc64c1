import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { StatusChanged } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import type { Colours } from "../terminal.ts";
import { formatCost, formatMs, millisOf } from "./numbers.ts";
import { oneLine } from "./plain-text.ts";
import type { TraceState } from "./trace-state.ts";

/** The last line of a run: how it ended, how long it took, what it cost. No line for a status that is not the end. */
export function renderEnd(
  { startedMs, cost }: TraceState,
  { status, message }: StatusChanged,
  time: Timestamp | undefined,
  colours: Colours,
): readonly string[] {
  const mark = markOf(status, colours);
  if (mark === undefined) return [];
  const took =
    time === undefined || startedMs === undefined
      ? ""
      : ` in ${formatMs(Math.max(millisOf(time) - startedMs, 0))}`;
  const parts = [`${mark}${took}`];
  if (message !== "") parts.push(oneLine(message, 500));
  if (cost !== undefined) parts.push(formatCost(cost));
  return [parts.join(" · ")];
}

function markOf(status: RunStatus, colours: Colours): string | undefined {
  if (status === RunStatus.COMPLETED) return colours.green("✓ completed");
  if (status === RunStatus.ERROR) return colours.red("✗ failed");
  return status === RunStatus.CANCELLED ? colours.yellow("■ cancelled") : undefined;
}

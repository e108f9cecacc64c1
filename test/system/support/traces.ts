import type { RunEvent } from "@reeve/contracts/run";
import { EventFamily, RunStatusSchema, StepState } from "@reeve/contracts/run";

/** The event families of the canonical trace of a run with one tool call. */
export const canonicalFamilies = [
  EventFamily.STATUS,
  EventFamily.STEP,
  EventFamily.TEXT,
  EventFamily.TOOL_CALL,
  EventFamily.MCP_PROGRESS,
  EventFamily.TOOL_RESULT,
  EventFamily.USAGE,
] as const;

/** Returns the events in short form, with adjacent text joined. */
export function traceOf(events: readonly RunEvent[]): readonly string[] {
  const trace: string[] = [];
  let text = "";
  for (const event of events) {
    if (event.event.case === "text") text += event.event.value.text;
    else {
      if (text !== "") trace.push(`text "${text}"`);
      text = "";
      trace.push(inShort(event));
    }
  }
  return trace;
}

function inShort({ event, stepNumber }: RunEvent): string {
  switch (event.case) {
    case "status":
      return `status ${RunStatusSchema.value[event.value.status]?.localName.toLowerCase()}`;
    case "step":
      return `step ${stepNumber} ${event.value.state === StepState.STARTED ? "started" : "completed"}`;
    case "usage":
      return `usage ${stepNumber}`;
    case "toolCall":
      return `tool_call ${event.value.name}`;
    case "mcpProgress":
      return `mcp_progress ${event.value.progress}/${event.value.total} ${event.value.message}`;
    case "toolResult":
      return `tool_result ${event.value.result?.name} ${event.value.success}`;
    default:
      return event.case ?? "unknown";
  }
}

/** The canonical trace: one MCP call with two progress notifications, then the answer. */
export const canonicalTrace = [
  "status starting",
  "step 1 started",
  "usage 1",
  "tool_call mcp__srv__search",
  "mcp_progress 1/2 step 1",
  "mcp_progress 2/2 step 2",
  "tool_result mcp__srv__search true",
  "step 1 completed",
  "step 2 started",
  'text "Final answer"',
  "usage 2",
  "step 2 completed",
  "status completed",
] as const;

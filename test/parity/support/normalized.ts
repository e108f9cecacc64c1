import type { IncompleteReason, RunEvent } from "@reeve/contracts/run";
import { IncompleteReasonSchema, Phase, RunStatusSchema, StepState } from "@reeve/contracts/run";
import { ApprovalStateSchema } from "@reeve/contracts/approval";
import type { ToolCall } from "@reeve/contracts/tool";
import { ToolStatusSchema } from "@reeve/contracts/tool";

/** The events of each loop of a run, in order, without an order between parallel subtasks. */
export type Trace = Readonly<Record<string, readonly string[]>>;

/**
 * Returns a run in the form that is equal on every backend: without ids, times, and the boundaries of text parts. Loops are
 * named by the path of titles that leads to them.
 */
export function normalized(events: readonly RunEvent[]): Trace {
  const names = new Map<string, string>([["", "root"]]);
  const lines = new Map<string, string[]>();
  for (const event of events) {
    const loop = names.get(event.parentId) ?? "unknown";
    if (event.event.case === "subtask") {
      const { subtaskId, index, title } = event.event.value;
      names.set(subtaskId, `${loop} > ${index} ${title}`);
    }
    const own = lines.get(loop) ?? [];
    lines.set(loop, own);
    const line = lineOf(event);
    const before = own.at(-1);
    // Adjacent text parts are one text, however they were split.
    if (before !== undefined && line.startsWith("text ") && before.startsWith("text ")) {
      own[own.length - 1] = before + line.slice("text ".length);
    } else own.push(line);
  }
  const inOrder = [...lines].map(([loop, own]) => [loop, siblingsSorted(own)] as const);
  return Object.fromEntries(inOrder.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Sorts the ends of parallel subtasks, each with its result, by title. */
function siblingsSorted(lines: readonly string[]): readonly string[] {
  const blocks: string[][] = [];
  for (const line of lines) {
    const last = blocks.at(-1);
    const isResult = line.startsWith("tool_result run_subtask");
    if (isResult && last?.length === 1 && isEnd(last)) last.push(line);
    else blocks.push([line]);
  }
  for (let index = 1; index < blocks.length; index++) {
    for (let at = index; at > 0; at--) {
      const [before = [], own = []] = [blocks[at - 1], blocks[at]];
      if (!isEnd(before) || !isEnd(own) || (before[0] ?? "") <= (own[0] ?? "")) break;
      blocks[at - 1] = own;
      blocks[at] = before;
    }
  }
  return blocks.flat();
}

function isEnd([first = ""]: readonly string[]): boolean {
  return /^subtask .* ended/.test(first);
}

/** Returns one event as a line of its loop. */
export function lineOf(event: RunEvent): string {
  const phase = event.phase === Phase.PLANNER ? "planner " : "";
  return `${phase}${inShort(event)}`;
}

function inShort({ event, stepNumber, depth }: RunEvent): string {
  switch (event.case) {
    case "text":
    case "reasoning":
      return `${event.case} ${event.value.text}`;
    case "status":
      return `status ${RunStatusSchema.value[event.value.status]?.localName}${incomplete(event.value)}`;
    case "step":
      return `step ${stepNumber} at ${depth} ${event.value.state === StepState.STARTED ? "started" : "completed"}`;
    case "toolCall":
      return `tool_call ${nodeOf(event.value)}${event.value.name} ${JSON.stringify(event.value.arguments ?? event.value.rawArguments)}`;
    case "mcpProgress":
      return `mcp_progress ${event.value.name} ${event.value.progress} ${event.value.message}`;
    case "toolResult": {
      const { result, success } = event.value;
      const status = ToolStatusSchema.value[result?.metadata?.status ?? 0]?.localName;
      const edited = result?.metadata?.editedArguments ?? "";
      const content = result?.content.replaceAll(/(run|art)_[a-z0-9]{20,}[\w/-]*/g, "ID");
      return `tool_result ${result?.name} ${success} ${status} ${content}${edited === "" ? "" : ` edited ${edited}`}`;
    }
    case "usage":
      return `usage ${event.value.inputTokens} ${event.value.outputTokens}`;
    case "mediaCallEnded":
      return `media_call_ended ${event.value.files} ${event.value.failure}`;
    case "context":
      return `context ${event.value.removedMessages} ${event.value.summary}`;
    case "messageInjected":
      return `message_injected ${event.value.message?.text}`;
    case "plan":
      return `plan ${event.value.steps.join(" | ")}`;
    case "approval": {
      const { approval } = event.value;
      const question = approval?.question === undefined ? "" : ` ${approval.question.message}`;
      return `approval ${ApprovalStateSchema.value[approval?.state ?? 0]?.localName} ${approval?.call?.name}${question}`;
    }
    case "subtask": {
      const { title, ended, error, resultPreview } = event.value;
      return `subtask ${title} ${ended ? `ended ${error} ${resultPreview}${incomplete(event.value)}` : "began"}`;
    }
    case "budgetExceeded":
      return `budget_exceeded ${event.value.reason} ${event.value.limit}`;
    case "textVoided":
      return "text_voided";
    case "costSummary": {
      const { llmCalls, toolCalls, subtasks } = event.value;
      return `cost_summary ${llmCalls} ${toolCalls} ${subtasks}`;
    }
    case "error":
      return `error ${event.value.reason}`;
    default:
      return event.case ?? "unknown";
  }
}

function nodeOf({ nodeId, itemIndex }: ToolCall): string {
  return nodeId === "" ? "" : `${nodeId}[${itemIndex}] `;
}

function incomplete({ incompleteReason }: { readonly incompleteReason: IncompleteReason }): string {
  return incompleteReason === 0
    ? ""
    : ` ${IncompleteReasonSchema.value[incompleteReason]?.localName}`;
}

import type { RunEvent } from "@reeve/contracts/run";
import { Phase, StepState } from "@reeve/contracts/run";
import type { Colours } from "../terminal.ts";
import { describeModel } from "./describe-model.ts";
import { renderEnd } from "./end-line.ts";
import { millisOf } from "./numbers.ts";
import { oneLine, plainText } from "./plain-text.ts";
import { renderCall, renderProgress, renderResult } from "./tool-lines.ts";
import { renderApproval } from "./approval-lines.ts";
import type { OpenLine, TraceState } from "./trace-state.ts";

export interface TraceStyle {
  readonly colours: Colours;
  readonly columns: number;
}

/** The state after an event, and what a terminal shows for it; streamed text may leave its line open. */
export interface Rendered {
  readonly state: TraceState;
  readonly output: string;
}

/**
 * Renders one event of a run for people. Pure. Members that it does not know are left out, because it only shows; text of
 * models and tools cannot steer the terminal.
 */
export function renderEvent(state: TraceState, event: RunEvent, style: TraceStyle): Rendered {
  const next = remember(state, event);
  const content = event.event;
  if (content.case === "text" || content.case === "reasoning") {
    return renderText(next, event, { kind: content.case, text: content.value.text }, style);
  }
  const lines = [...heldLines(next, event), ...linesOf(next, event, style)];
  // The header waits for the model's name, so that it stands before anything else.
  const isReady = content.case === "runPrepared" || lines.length > 0;
  if (!isReady) return { state: next, output: "" };
  const margin = "  ".repeat(event.depth);
  const output = lines.map((line) => `${margin}${line}\n`).join("");
  const header = renderHeader(next, style);
  const closing = next.openLine !== undefined && !next.openLine.atStart ? "\n" : "";
  return {
    state: { ...next, hasHeader: true, openLine: undefined, held: without(next, event.parentId) },
    output: closing + header + output,
  };
}

/** What is shown when no more events come: ends an open line. */
export function closeTrace(state: TraceState): Rendered {
  const isOpen = state.openLine !== undefined && !state.openLine.atStart;
  return { state: { ...state, openLine: undefined }, output: isOpen ? "\n" : "" };
}

function remember(state: TraceState, event: RunEvent): TraceState {
  const { event: content, time, runId } = event;
  const startedMs = state.startedMs ?? (time === undefined ? undefined : millisOf(time));
  const title = state.title === "" ? `run ${runId}` : state.title;
  const known = { ...state, startedMs, title };
  if (content.case === "runCreated") {
    return { ...known, title: `run ${runId} · agent ${oneLine(content.value.agentId, 63)}` };
  }
  if (content.case === "runPrepared") {
    return { ...known, answering: describeModel(content.value.model, content.value.scripted) };
  }
  return content.case === "costSummary" ? { ...known, cost: content.value } : known;
}

function renderHeader(state: TraceState, { colours }: TraceStyle): string {
  if (state.hasHeader) return "";
  const answering = state.answering === undefined ? "" : ` · ${state.answering}`;
  return `${colours.bold(state.title)}${answering}\n`;
}

/** What a subtask has said before this event of its own. */
function heldLines({ held }: TraceState, { parentId }: RunEvent): readonly string[] {
  const text = held.get(parentId)?.trim() ?? "";
  return text === "" ? [] : text.split("\n").map((line) => `    ${line}`);
}

function without({ held }: TraceState, parentId: string): TraceState["held"] {
  return held.has(parentId) ? new Map([...held].filter(([id]) => id !== parentId)) : held;
}

function renderText(
  state: TraceState,
  { depth, parentId, phase }: RunEvent,
  { kind, text }: { readonly kind: OpenLine["kind"]; readonly text: string },
  style: TraceStyle,
): Rendered {
  // What the planner writes is shown as its plan.
  if (phase === Phase.PLANNER) return { state, output: "" };
  if (parentId !== "") {
    if (kind === "reasoning") return { state, output: "" };
    const said = (state.held.get(parentId) ?? "") + plainText(text);
    return { state: { ...state, held: new Map(state.held).set(parentId, said) }, output: "" };
  }
  const open = state.openLine;
  const goesOn = open !== undefined && open.kind === kind;
  const closing = open !== undefined && !goesOn && !open.atStart ? "\n" : "";
  const margin = "  ".repeat(depth + 2);
  const paint = kind === "reasoning" ? style.colours.dim : (words: string) => words;
  let atStart = goesOn ? open.atStart : true;
  let output = "";
  for (const [index, part] of plainText(text).split("\n").entries()) {
    if (index > 0) {
      output += "\n";
      atStart = true;
    }
    if (part === "") continue;
    output += (atStart ? margin : "") + paint(part);
    atStart = false;
  }
  return {
    state: { ...state, hasHeader: true, openLine: { kind, atStart } },
    output: renderHeader(state, style) + closing + output,
  };
}

function linesOf(state: TraceState, event: RunEvent, style: TraceStyle): readonly string[] {
  const { colours, columns } = style;
  const { event: content, stepNumber } = event;
  const width = Math.max(columns - 8 - 2 * event.depth, 40);
  switch (content.case) {
    case "step":
      return content.value.state === StepState.STARTED
        ? [`  ${colours.dim(`step ${stepNumber}`)}`]
        : [];
    case "toolCall":
      return renderCall(content.value, colours, width);
    case "mcpProgress":
      return renderProgress(content.value, colours, width);
    case "toolResult":
      return renderResult(content.value, colours, width);
    case "approval":
      return renderApproval(content.value.approval, colours, width);
    case "context": {
      const { beforeTokens, afterTokens } = content.value;
      return [
        `    ${colours.dim(`context made smaller: ${beforeTokens} → ${afterTokens} tokens`)}`,
      ];
    }
    case "messageInjected":
      return [`    ${colours.cyan("»")} ${oneLine(content.value.message?.text ?? "", width)}`];
    case "plan":
      return content.value.steps.map((step, index) => `    ${index + 1}. ${oneLine(step, width)}`);
    case "subtask": {
      const { title, ended, isError } = content.value;
      const mark = ended ? (isError ? colours.red("✗") : colours.green("✓")) : colours.cyan("▸");
      return [`  ${mark} ${oneLine(title, width)}`];
    }
    case "budgetExceeded": {
      const { reason, limit, observed } = content.value;
      return [`  ${colours.red("✗")} budget ${reason} exceeded: ${observed} of ${limit}`];
    }
    case "error":
      return [
        `  ${colours.red("✗")} ${content.value.reason}: ${oneLine(content.value.message, 2_000)}`,
      ];
    case "textVoided":
      return [`    ${colours.yellow("the text above does not stand: the model is asked again")}`];
    case "status":
      return renderEnd(state, content.value, event.time, colours);
    default:
      return [];
  }
}

import type {
  ClientCallChanged,
  ModelCallFailed,
  RunEvent,
  SubtaskChanged,
  ToolResultEvent,
} from "@reeve/contracts/run";
import { ClientCallState, Phase, StepState } from "@reeve/contracts/run";
import { ToolStatus } from "@reeve/contracts/tool";
import { reachedProvider } from "@reeve/run/head/reached-provider";
import { renderApproval } from "./approvals/approval.ts";
import { describeModel } from "./describe-model.ts";
import { incompleteName } from "./incomplete.ts";
import { describeModelWait } from "./model-wait.ts";
import { millisOf } from "./numbers.ts";
import { oneLine, plainText } from "./plain-text.ts";
import { renderHook } from "./trace/hook.ts";
import { renderParts } from "./trace/parts.ts";
import { renderEnd } from "./run-end.ts";
import { renderCall, renderProgress, renderResult } from "./tool.ts";
import type { Style } from "../style.ts";
import type { TraceOptions } from "./trace/trace-options.ts";
import type { OpenLine, TraceState } from "./trace/trace-state.ts";

/** The state after an event, and the output for it. Streamed text may leave its line open. */
export interface Rendered {
  readonly state: TraceState;
  readonly output: string;
}

/**
 * Renders one event of a run for people. Pure. Skips unknown kinds of events, because it only displays them. Text of models
 * and tools cannot control the terminal.
 */
export function renderEvent(state: TraceState, event: RunEvent, options: TraceOptions): Rendered {
  const next = remember(state, event);
  const content = event.event;
  if (content.case === "text" || content.case === "reasoning") {
    return renderText(next, event, { kind: content.case, text: content.value.text }, options);
  }
  const lines = [...subtaskLines(next, event), ...linesOf(next, event, options)];
  // The header is the first line and names the model, so it waits for the event that has the name.
  const isReady = content.case === "runPrepared" || lines.length > 0;
  if (!isReady) return { state: next, output: "" };
  const margin = "  ".repeat(event.depth);
  const output = lines.map((line) => `${margin}${line}\n`).join("");
  const header = renderHeader(next, options);
  const closing = next.openLine !== undefined && !next.openLine.atStart ? "\n" : "";
  return {
    state: {
      ...next,
      hasHeader: true,
      openLine: undefined,
      subtaskText: without(next, event.parentId),
    },
    output: closing + header + output,
  };
}

/** Ends an open line. Call it when no more events follow, or before other output. */
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
    const { agentId, parts: attached } = content.value;
    return { ...known, attached, title: `run ${runId} · agent ${oneLine(agentId, 63)}` };
  }
  if (content.case === "runPrepared") {
    const { model, scripted } = content.value;
    // A workflow may need no model.
    return model === undefined ? known : { ...known, source: describeModel(model, scripted) };
  }
  if (content.case === "modelCallFailed") {
    return { ...known, uncalled: uncalledAfter(state, event.parentId, content.value) };
  }
  if (content.case === "toolResult" && hasFailed(content.value)) {
    return { ...known, failedCalls: state.failedCalls + 1 };
  }
  return content.case === "costSummary" ? { ...known, cost: content.value } : known;
}

function hasFailed({ success, result }: ToolResultEvent): boolean {
  return !success && result?.metadata?.status !== ToolStatus.REJECTED;
}

function uncalledAfter(
  { uncalled }: TraceState,
  parentId: string,
  failure: ModelCallFailed,
): TraceState["uncalled"] {
  const before = failure.attempt === 1 ? 0 : (uncalled.get(parentId) ?? 0);
  return new Map(uncalled).set(parentId, before + (reachedProvider(failure) ? 0 : 1));
}

function renderHeader(state: TraceState, { style }: TraceOptions): string {
  if (state.hasHeader) return "";
  const source = state.source === undefined ? "" : ` · ${state.source}`;
  return `${style("bold", state.title)}${source}\n`;
}

/** Returns the text that the subtask of this event has streamed so far. */
function subtaskLines({ subtaskText }: TraceState, { parentId }: RunEvent): readonly string[] {
  const text = subtaskText.get(parentId)?.trim() ?? "";
  return text === "" ? [] : text.split("\n").map((line) => `    ${line}`);
}

function without({ subtaskText }: TraceState, parentId: string): TraceState["subtaskText"] {
  if (!subtaskText.has(parentId)) return subtaskText;
  return new Map([...subtaskText].filter(([id]) => id !== parentId));
}

function renderText(
  state: TraceState,
  { depth, parentId, phase }: RunEvent,
  { kind, text }: { readonly kind: OpenLine["kind"]; readonly text: string },
  options: TraceOptions,
): Rendered {
  // The plan event shows what the planner writes.
  if (phase === Phase.PLANNER) return { state, output: "" };
  if (parentId !== "") {
    if (kind === "reasoning") return { state, output: "" };
    const whole = (state.subtaskText.get(parentId) ?? "") + plainText(text);
    const subtaskText = new Map(state.subtaskText).set(parentId, whole);
    return { state: { ...state, subtaskText }, output: "" };
  }
  const open = state.openLine;
  const continues = open !== undefined && open.kind === kind;
  const closing = open !== undefined && !continues && !open.atStart ? "\n" : "";
  const margin = "  ".repeat(depth + 2);
  const paint = (words: string) => (kind === "reasoning" ? options.style("dim", words) : words);
  let atStart = continues ? open.atStart : true;
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
    output: renderHeader(state, options) + closing + output,
  };
}

/** A call that waits for a person may wait for days: the person who watches sees what it waits for. */
function renderClientCall(
  { state, clientId, answeredByPerson }: ClientCallChanged,
  style: TraceOptions["style"],
): readonly string[] {
  if (state === ClientCallState.TAKEN) {
    return [`    ${style("dim", `the client ${clientId} has the call`)}`];
  }
  return state === ClientCallState.OPEN && answeredByPerson
    ? [`    ${style("dim", "waiting for a person at a client")}`]
    : [];
}

function linesOf(state: TraceState, event: RunEvent, options: TraceOptions): readonly string[] {
  const { style, columns } = options;
  const { event: content, stepNumber } = event;
  const width = Math.max(columns - 8 - 2 * event.depth, 20);
  switch (content.case) {
    case "step":
      return content.value.state === StepState.STARTED
        ? [`  ${style("dim", `step ${stepNumber}`)}`]
        : [];
    case "toolCall":
      return renderCall(content.value, style, width);
    case "mcpProgress":
      return renderProgress(content.value, style, width);
    case "toolResult":
      return renderResult(content.value, style, width);
    case "approval":
      return renderApproval(content.value.approval, { ...options, columns: width });
    case "context": {
      const { beforeTokens, afterTokens } = content.value;
      return [`    ${style("dim", `context compacted: ${beforeTokens} → ${afterTokens} tokens`)}`];
    }
    case "messageInjected":
      return [
        `    ${style("cyan", "»")} ${oneLine(content.value.message?.text ?? "", width)}`,
        ...renderParts(content.value.message?.parts ?? [], style, width),
      ];
    case "plan":
      return content.value.steps.map((step, index) => `    ${index + 1}. ${oneLine(step, width)}`);
    case "subtask": {
      const { title, incompleteReason } = content.value;
      const incomplete = incompleteName(incompleteReason);
      const note = incomplete === "" ? "" : ` (${incomplete})`;
      return [`  ${subtaskMark(content.value, style)} ${oneLine(title, width)}${note}`];
    }
    case "pluginHookFinished":
      return renderHook(content.value, style, width);
    case "clientCall":
      return renderClientCall(content.value, style);
    case "budgetExceeded": {
      const { reason, limit, observed } = content.value;
      return [`  ${style("red", "✗")} budget ${reason} exceeded: ${observed} of ${limit}`];
    }
    case "error":
      return [
        `  ${style("red", "✗")} ${content.value.reason}: ${oneLine(content.value.message, 2_000)}`,
      ];
    case "textVoided":
      return [`    ${style("yellow", "the text above is void")}`];
    case "modelCallFailed": {
      const wait = describeModelWait(content.value, state.uncalled.get(event.parentId) ?? 0);
      return wait === undefined ? [] : [`    ${style("yellow", wait)}`];
    }
    case "status":
      return renderEnd(state, content.value, event.time, style);
    case "runPrepared":
      return renderParts(state.attached, style, width);
    case "runCreated":
    case "runClaimed":
    case "runParked":
    case "text":
    case "reasoning":
    case "toolCallStarted":
    case "usage":
    case "modelCallStarted":
    case "modelTurn":
    case "modelRetryDue":
    case "tokensCounted":
    case "pluginsPinned":
    case "workflowPrepared":
    case "mediaPrepared":
    case "workflowContinued":
    case "mediaCallStarted":
    case "mediaCallEnded":
    case "remoteTask":
    case "runEnding":
    case "messageSubmitted":
    case "memoryWritten":
    case "todosChanged":
    case "cancelRequested":
    case "costSummary":
    case "treeStored":
    case undefined:
      return [];
  }
}

function subtaskMark({ ended, isError }: SubtaskChanged, style: Style): string {
  if (!ended) return style("cyan", "▸");
  return isError ? style("red", "✗") : style("green", "✓");
}

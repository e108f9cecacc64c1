import type { RunEvent } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import { formatDuration, msOf } from "../format/time.ts";
import { formatCount } from "../format/amounts.ts";
import { isTerminal } from "../format/names.ts";
import {
  add,
  addNote,
  addText,
  addUsage,
  changeCall,
  frameOf,
  subtaskFrame,
  touchFrame,
  voidText,
} from "./frames.ts";
import type { RunModel } from "./run-model.ts";
import { foldRecord } from "./fold-record.ts";
import { foldSpans } from "./timeline/spans.ts";
import { takeoverOf } from "./takeover.ts";

/** Adds an event to the model of its run. An event of a kind that this version does not know is only listed. */
export function foldRun(run: RunModel, envelope: RunEvent): void {
  run.events.push(envelope);
  run.version++;
  const { event } = envelope;
  const timeMs = msOf(envelope.time);
  const frame = frameOf(run, envelope);
  switch (event.case) {
    case "text":
      addText(frame, envelope, "text", event.value.text);
      break;
    case "reasoning":
      addText(frame, envelope, "reasoning", event.value.text);
      break;
    case "textVoided":
      voidText(frame, envelope.stepNumber, event.value.firstSequence);
      break;
    case "toolCall": {
      const call = event.value;
      const item = {
        kind: "call" as const,
        key: call.callId,
        version: 0,
        call,
        frame,
        calledAtMs: timeMs,
        sequence: envelope.sequence,
        progress: undefined,
        result: undefined,
        endSequence: 0,
        approvalId: "",
        subtasks: [],
      };
      run.calls.set(call.callId, item);
      add(frame, item);
      break;
    }
    case "mcpProgress":
      changeCall(run, event.value.callId, (call) => (call.progress = event.value));
      break;
    case "toolResult":
      changeCall(run, event.value.result?.callId ?? "", (call) => {
        call.result = event.value;
        call.endSequence = envelope.sequence;
      });
      run.clientWaits.delete(event.value.result?.callId ?? "");
      break;
    case "subtask": {
      const { subtaskId, callId, title, ended, isError, message, resultPreview } = event.value;
      const subtask = subtaskFrame(run, subtaskId, callId, envelope.depth + 1);
      subtask.title = title || subtask.title;
      subtask.agentId = event.value.agentId || subtask.agentId;
      subtask.startedAtMs ??= timeMs;
      if (ended) {
        Object.assign(subtask, { message, resultPreview, endedAtMs: timeMs });
        subtask.endSequence = envelope.sequence;
        subtask.state = isError ? "failed" : "done";
      }
      touchFrame(subtask);
      break;
    }
    case "approval": {
      const { approval } = event.value;
      if (approval === undefined) break;
      run.approvals.set(approval.approvalId, approval);
      changeCall(run, approval.call?.callId ?? "", (call) => {
        call.approvalId = approval.approvalId;
      });
      break;
    }
    case "plan":
      run.plan = event.value.steps;
      endPlanner(run, timeMs);
      break;
    case "context": {
      const { beforeTokens, afterTokens, summary } = event.value;
      const text = `The conversation was shortened from ${formatCount(beforeTokens)} to ${formatCount(afterTokens)} tokens`;
      addNote(frame, envelope, { tone: "info", text, detail: summary });
      break;
    }
    case "messageInjected": {
      const { messageId, message } = event.value;
      const key = `message-${messageId}`;
      const by = run.waiting.get(messageId)?.by ?? "";
      run.waiting.delete(messageId);
      const { text = "", parts: content = [] } = message ?? {};
      add(frame, { kind: "user", key, version: 0, text, content, by });
      break;
    }
    case "usage":
      addUsage(run, frame, event.value);
      break;
    case "budgetExceeded": {
      const { reason, limit, observed } = event.value;
      const text = `The budget of ${reason} is exceeded: ${observed} of ${limit}`;
      addNote(frame, envelope, { tone: "bad", text });
      break;
    }
    case "error":
      run.error = event.value;
      addNote(frame, envelope, { tone: "bad", text: event.value.message });
      break;
    case "costSummary":
      run.cost = event.value;
      break;
    case "status":
      run.status = event.value.status;
      run.statusMessage = event.value.message;
      if (isTerminal(event.value.status)) {
        run.endedAtMs = timeMs;
        run.clientWaits.clear();
        endPlanner(run, timeMs);
      }
      break;
    case "step":
      endPlannerAtFirstStep(run, envelope, timeMs);
      break;
    case "runClaimed": {
      const note = takeoverOf(run, event.value);
      if (note !== undefined) addNote(run.root, envelope, note);
      run.worker = event.value.worker;
      break;
    }
    case "modelCallFailed": {
      const { reason, message, retryDelay, fallbackModel } = event.value;
      const next =
        fallbackModel !== ""
          ? `; ${fallbackModel} is called instead`
          : retryDelay === undefined
            ? ""
            : `; the next attempt follows in ${formatDuration(Number(retryDelay.seconds) * 1_000 + retryDelay.nanos / 1e6)}`;
      const text = `The model did not answer (${reason})${next}`;
      addNote(frame, envelope, { tone: "warn", text, detail: message });
      break;
    }
    default:
      foldRecord(run, envelope);
  }
  foldSpans(run, envelope);
  settleStatus(run, envelope);
}

function endPlannerAtFirstStep(run: RunModel, { stepNumber }: RunEvent, timeMs?: number): void {
  if (stepNumber === 1) endPlanner(run, timeMs);
}

function endPlanner(run: RunModel, timeMs: number | undefined): void {
  const planner = run.frames.get("planner");
  if (planner === undefined || planner.endedAtMs !== undefined) return;
  planner.endedAtMs = timeMs;
  planner.state = "done";
  touchFrame(planner);
}

/** Between `starting` and its end a run is running, or waits; neither is an event. */
function settleStatus(run: RunModel, { event }: RunEvent): void {
  if (isTerminal(run.status)) return;
  if (event.case === "runParked") run.status = RunStatus.WAITING;
  else if (event.case === "runCreated") run.status = RunStatus.QUEUED;
  else if (event.case === "runClaimed" || event.case === "step") run.status = RunStatus.RUNNING;
}

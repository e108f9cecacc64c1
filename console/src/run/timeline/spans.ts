import type { RunEvent } from "@reeve/contracts/run";
import { ClientCallState, ModelCallPurpose, Phase } from "@reeve/contracts/run";
import { ApprovalState } from "@reeve/contracts/approval";
import { nameOfCall } from "../../format/names.ts";
import { msOf } from "../../format/time.ts";
import { frameOf } from "../frames.ts";
import { hookNote } from "../hook-note.ts";
import type { Frame, RunModel, Span } from "../run-model.ts";

/** Updates the spans of the timeline with an event. */
export function foldSpans(run: RunModel, envelope: RunEvent): void {
  const { event, parentId, phase, stepNumber } = envelope;
  const model = `model ${parentId} ${phase} ${stepNumber}`;
  switch (event.case) {
    case "runClaimed": {
      const { worker, epoch } = event.value;
      const key = `claim ${epoch}`;
      open(run, envelope, { key, kind: "claim", label: `worker ${worker}`, attempt: epoch });
      return close(run, envelope, key);
    }
    case "modelCallStarted": {
      const { attempt, purpose, reservedUsd = 0 } = event.value;
      const isSummary = purpose === ModelCallPurpose.SUMMARY;
      const name = modelOf(run, frameOf(run, envelope));
      const isPlanner = phase === Phase.PLANNER;
      const label = isSummary ? `${name}: summary` : isPlanner ? `${name}: plan` : name;
      noteLost(run, run.openSpans.get(model));
      close(run, envelope, model, { failed: true, detail: "abandoned: its worker was lost" });
      return open(run, envelope, { key: model, kind: "model", label, attempt, reservedUsd });
    }
    case "modelTurn":
      return close(run, envelope, model);
    case "context":
      return close(run, envelope, model);
    case "modelCallFailed": {
      const { reason, message } = event.value;
      return close(run, envelope, model, { failed: true, detail: `${reason}: ${message}` });
    }
    case "usage": {
      const { costUsd = 0, inputTokens, outputTokens } = event.value;
      const span = run.openSpans.get(model);
      if (span === undefined) return;
      span.costUsd += costUsd;
      span.detail = `${inputTokens} tokens in, ${outputTokens} out`;
      return;
    }
    case "toolCallStarted": {
      const { callId } = event.value;
      const label = run.calls.get(callId)?.call.name ?? "tool";
      return open(run, envelope, { key: `tool ${callId}`, kind: "tool", label, attempt: 1 });
    }
    case "toolResult": {
      const { result, success, error } = event.value;
      const end = { failed: !success, ...(error !== "" && { detail: error }) };
      close(run, envelope, `client ${result?.callId ?? ""}`, end);
      return close(run, envelope, `tool ${result?.callId ?? ""}`, end);
    }
    case "subtask": {
      const { subtaskId, title, ended, isError, message } = event.value;
      const key = subtaskKey(subtaskId);
      if (ended) return close(run, envelope, key, { failed: isError, detail: message });
      return open(run, envelope, { key, kind: "subtask", label: title || "subtask", attempt: 1 });
    }
    case "approval": {
      const { approval } = event.value;
      const key = `approval ${approval?.approvalId ?? ""}`;
      if (approval?.state !== ApprovalState.PENDING) return close(run, envelope, key);
      // Votes, comments, and escalations are events of the same wait.
      if (run.openSpans.has(key)) return;
      const label = `decision: ${nameOfCall(approval.call)}`;
      return open(run, envelope, { key, kind: "approval", label, attempt: 1 });
    }
    case "clientCall": {
      const { state, callId, name, clientId } = event.value;
      const key = `client ${callId}`;
      if (state === ClientCallState.OPEN) return openWait(run, envelope, { key, callId, name });
      if (state === ClientCallState.TAKEN) return describe(run, key, `taken by ${clientId}`);
      const isExpired = state === ClientCallState.EXPIRED;
      const detail = isExpired ? "no answer in time" : `answered by ${clientId}`;
      return close(run, envelope, key, { failed: isExpired, detail });
    }
    case "pluginHookFinished": {
      const { pluginId, hookId } = event.value;
      const note = hookNote(event.value);
      if (note === undefined) return;
      const key = `hook ${hookId}`;
      open(run, envelope, { key, kind: "hook", label: `plugin ${pluginId}`, attempt: 1 });
      const detail = `${note.text} ${note.detail}`;
      return close(run, envelope, key, { failed: note.tone === "bad", detail });
    }
    case "status":
      if (run.endedAtMs === undefined) return;
      for (const key of run.openSpans.keys()) close(run, envelope, key);
      return;
    default:
      // Events of other kinds take no time.
      return;
  }
}

/** Returns the key of the span of a subtask. */
export function subtaskKey(frameId: string): string {
  return `subtask ${frameId}`;
}

type SpanStart = Pick<Span, "key" | "kind" | "label" | "attempt"> &
  Partial<Pick<Span, "reservedUsd">>;

/** Names the model of a frame: that of its delegate, or of the agent of the run. */
function modelOf({ prepared }: RunModel, frame: Frame): string {
  for (let each: Frame | undefined = frame; each !== undefined; each = each.parent) {
    const { agentId } = each;
    const delegate = prepared?.delegates.find((one) => agentId !== "" && one.agentId === agentId);
    if (delegate !== undefined) return delegate.model?.upstreamName ?? "model";
  }
  return prepared?.model?.upstreamName ?? "model";
}

/** A call that waits for a client is a wait, and not the work of a toolhost. */
function openWait(
  run: RunModel,
  envelope: RunEvent,
  { key, callId, name }: { readonly key: string; readonly callId: string; readonly name: string },
): void {
  const work = run.openSpans.get(`tool ${callId}`);
  if (work !== undefined) {
    run.openSpans.delete(`tool ${callId}`);
    run.spans.splice(run.spans.lastIndexOf(work), 1);
  }
  open(run, envelope, { key, kind: "client", label: `client: ${name}`, attempt: 1 });
}

function describe({ openSpans }: RunModel, key: string, detail: string): void {
  const span = openSpans.get(key);
  if (span !== undefined) span.detail = detail;
}

/** Counts a call that was abandoned, unless its usage is known. */
function noteLost({ lost }: RunModel, span: Span | undefined): void {
  if (span === undefined || span.costUsd > 0) return;
  lost.calls++;
  lost.reservedUsd += span.reservedUsd;
}

function open(run: RunModel, { time, depth, parentId }: RunEvent, start: SpanStart): void {
  const span: Span = {
    reservedUsd: 0,
    ...start,
    depth,
    frameId: parentId,
    startMs: msOf(time) ?? 0,
    endMs: undefined,
    failed: false,
    detail: "",
    costUsd: 0,
  };
  run.spans.push(span);
  run.openSpans.set(start.key, span);
}

function close(
  run: RunModel,
  { time }: RunEvent,
  key: string,
  end: Partial<Pick<Span, "failed" | "detail">> = {},
): void {
  const span = run.openSpans.get(key);
  if (span === undefined) return;
  run.openSpans.delete(key);
  Object.assign(span, end, { endMs: Math.max(span.startMs, msOf(time) ?? 0) });
}

import type { RunEvent } from "@reeve/contracts/run";
import { ModelCallPurpose, Phase } from "@reeve/contracts/run";
import { ApprovalState } from "@reeve/contracts/approval";
import { msOf } from "../format/time.ts";
import type { RunModel, Span } from "./run-model.ts";

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
      const { attempt, purpose } = event.value;
      const isSummary = purpose === ModelCallPurpose.SUMMARY;
      const name = run.prepared?.model?.upstreamName ?? "model";
      const isPlanner = phase === Phase.PLANNER;
      const label = isSummary ? `${name}: summary` : isPlanner ? `${name}: plan` : name;
      close(run, envelope, model, { failed: true, detail: "abandoned" });
      return open(run, envelope, { key: model, kind: "model", label, attempt });
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
      return close(run, envelope, `tool ${result?.callId ?? ""}`, end);
    }
    case "subtask": {
      const { subtaskId, title, ended, isError, message } = event.value;
      const key = `subtask ${subtaskId}`;
      if (ended) return close(run, envelope, key, { failed: isError, detail: message });
      return open(run, envelope, { key, kind: "subtask", label: title || "subtask", attempt: 1 });
    }
    case "approval": {
      const { approval } = event.value;
      const key = `approval ${approval?.approvalId ?? ""}`;
      if (approval?.state !== ApprovalState.PENDING) return close(run, envelope, key);
      const label = `waits for a decision: ${approval.call?.name ?? "call"}`;
      return open(run, envelope, { key, kind: "approval", label, attempt: 1 });
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

type SpanStart = Pick<Span, "key" | "kind" | "label" | "attempt">;

function open(run: RunModel, { time, depth }: RunEvent, start: SpanStart): void {
  const span: Span = {
    ...start,
    depth,
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

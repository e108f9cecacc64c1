import { ToolStatus } from "@reeve/contracts/tool";
import { ApprovalState } from "@reeve/contracts/approval";
import type { NamedTone } from "../format/names.ts";
import { stateOfWait } from "./client-waits.ts";
import type { CallItem, Frame, RunModel } from "./run-model.ts";

/** How a call is doing, in one word. */
export function stateOfCall(item: CallItem, run: RunModel): NamedTone {
  const { call, result, approvalId, frame } = item;
  if (result === undefined) {
    const isPending = run.approvals.get(approvalId)?.state === ApprovalState.PENDING;
    if (isPending) return { name: "waiting for a decision", tone: "wait" };
    const wait = run.clientWaits.get(call.callId);
    if (wait !== undefined) return stateOfWait(wait);
    const isOver = run.endedAtMs !== undefined || frame.state !== "running";
    return isOver ? { name: "no result", tone: "idle" } : { name: "running", tone: "busy" };
  }
  switch (result.result?.metadata?.status) {
    case ToolStatus.REJECTED:
      return { name: "rejected", tone: "bad" };
    case ToolStatus.TIMED_OUT:
      return { name: "timed out", tone: "bad" };
    case ToolStatus.INCOMPLETE:
      return { name: "incomplete", tone: "wait" };
    default:
      return result.success ? { name: "done", tone: "ok" } : { name: "failed", tone: "bad" };
  }
}

/** How a subtask is doing. */
export function stateOfFrame({ state }: Frame, run: RunModel): NamedTone {
  if (state === "done") return { name: "done", tone: "ok" };
  if (state === "failed") return { name: "failed", tone: "bad" };
  return run.endedAtMs === undefined
    ? { name: "running", tone: "busy" }
    : { name: "no result", tone: "idle" };
}

/** The start of the arguments in one line. */
export function argsLine({ call }: CallItem, max = 140): string {
  const text = call.arguments === undefined ? call.rawArguments : JSON.stringify(call.arguments);
  return text === "{}" ? "" : oneLine(text, max);
}

/** The start of the result in one line. */
export function resultLine({ result }: CallItem, max = 140): string {
  return result === undefined ? "" : oneLine(result.error || (result.result?.content ?? ""), max);
}

function oneLine(text: string, max: number): string {
  const line = text
    .slice(0, max * 4)
    .replace(/\s+/g, " ")
    .trim();
  return line.length > max ? `${line.slice(0, max)}…` : line;
}

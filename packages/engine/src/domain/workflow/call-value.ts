import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { outputsOfResult } from "@reeve/agent/workflow/call-outputs";
import { recordIn } from "@reeve/agent/workflow/json-text";
import type { NodeTarget } from "@reeve/agent/workflow/node-target";
import { errorHandle } from "@reeve/agent/workflow/node-type";
import type { NodeOutputs } from "@reeve/agent/workflow/node-inputs";
import { enteringProblem } from "@reeve/agent/workflow/value-limits";
import { ApprovalState } from "@reeve/contracts/approval";
import type { ToolResult } from "@reeve/contracts/tool";
import { ResultExtent } from "@reeve/contracts/tool";
import { approvedCall } from "../calls/approved-call.ts";
import type { Call, Frame } from "../state/frame.ts";
import { taskKey } from "../subtasks/outcome.ts";

/** What the call of a node gave. */
export type CallOutcome =
  | { readonly kind: "ended"; readonly outputs: NodeOutputs; readonly cutBy: string }
  | { readonly kind: "failed"; readonly problem: string };

/** Returns what a call gave that has a result. `inputs` are those of its node. */
export function outcomeOfCall(...given: Parameters<typeof readOutcome>): CallOutcome {
  const outcome = readOutcome(...given);
  if (outcome.kind === "failed") return outcome;
  for (const [handle, value] of outcome.outputs) {
    const problem = enteringProblem(value);
    if (problem !== undefined) {
      return { kind: "failed", problem: `its output "${handle}" cannot be used: ${problem}` };
    }
  }
  return outcome;
}

function readOutcome(
  frame: Frame,
  target: NodeTarget,
  call: Call,
  result: ToolResult,
  inputs: JsonObject,
): CallOutcome {
  const { kind } = target;
  if (kind === "approval") return outcomeOfApproval(call, result);
  if (result.isError) return { kind: "failed", problem: result.content };
  const cutBy = whatCut(result);
  switch (kind) {
    case "delay":
      return ended([["value", inputs["value"] ?? null]]);
    case "code": {
      const known = withRecord(result);
      // Nodes that read a part find it in the text.
      if (cutBy !== "" && known.structured === undefined) {
        return ended(
          [
            ["result", known.content],
            ["stdout", known.content],
          ],
          cutBy,
        );
      }
      return { kind: "ended", outputs: outputsOfResult(target, known), cutBy };
    }
    case "agent":
    case "workflow":
    case "model": {
      if (result.structured !== undefined) return ended([["result", result.structured]]);
      // The frame has the whole answer: the result may have only its start.
      const whole = frame.pendingMemory.get(taskKey(result.callId));
      return ended([["result", whole ?? result.content]], whole === undefined ? cutBy : "");
    }
    default:
      return ended([["result", result.structured ?? result.content]], cutBy);
  }
}

function ended(entries: readonly (readonly [string, JsonValue])[], cutBy = ""): CallOutcome {
  return { kind: "ended", outputs: new Map(entries), cutBy };
}

/** Returns the outputs of a node that failed and continues. */
export function errorOutputs(problem: string): NodeOutputs {
  return new Map([[errorHandle, problem]]);
}

const decisions: ReadonlyMap<ApprovalState | undefined, string> = new Map([
  [ApprovalState.APPROVED, "approved"],
  [ApprovalState.REJECTED, "rejected"],
  [ApprovalState.WITHDRAWN, "rejected"],
  [ApprovalState.TIMED_OUT, "timed_out"],
]);

function outcomeOfApproval(call: Call, result: ToolResult): CallOutcome {
  const { approval } = call;
  const { isError, content } = result;
  if (call.call.inheritedFrom !== "") {
    return ended([[isError ? "rejected" : "approved", result.structured ?? null]]);
  }
  const decision = decisions.get(approval?.state);
  // An approval that does not count, and a call that a rule or a budget refused, are failures of the node.
  const isInvalid = isError && approval?.state === ApprovalState.APPROVED;
  if (decision === undefined || isInvalid) return { kind: "failed", problem: content };
  const value = {
    decision,
    comment: approval?.decision?.reason ?? "",
    value: approvedCall(call).arguments?.["value"] ?? null,
  };
  return ended([[isError ? "rejected" : "approved", value]]);
}

/** The record of a large result is in its text. */
function withRecord({
  structured,
  content,
}: ToolResult): Pick<ToolResult, "content" | "structured"> {
  const record = structured ?? recordIn(content);
  const isRecord = typeof record === "object" && record !== null && !Array.isArray(record);
  return { content, ...(isRecord && { structured: record }) };
}

/** Returns what says that a result is only a part of what the tool gave. Empty: it is the whole. */
function whatCut(result: ToolResult): string {
  if (!isPart(result)) return "";
  const artifact = result.metadata?.offloadedArtifactId ?? "";
  return artifact === "" ? "the rest is lost" : `artifact ${artifact} has the whole`;
}

function isPart(result: ToolResult): boolean {
  switch (result.metadata?.extent) {
    case ResultExtent.WHOLE:
      return false;
    case ResultExtent.PART:
    case ResultExtent.RECORD_DROPPED:
      return true;
    default:
      return hasNote(result);
  }
}

/** The notes of results of which the log has only a part. */
const cutNote = /\[(?:cut: )?\d+ bytes in all[;,] /;

/** Whether a result that does not record its extent says that it is a part. */
function hasNote({ structured, content, metadata }: ToolResult): boolean {
  return structured === undefined
    ? cutNote.test(content)
    : metadata?.offloadedArtifactId !== "" && typeof structured["offloaded"] === "string";
}

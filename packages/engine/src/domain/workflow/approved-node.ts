import { create } from "@bufbuild/protobuf";
import { ApprovalState } from "@reeve/contracts/approval";
import { ToolResultSchema } from "@reeve/contracts/tool";
import { toolResultFact } from "../calls/tool-result.ts";
import type { Fact } from "../state/fact.ts";
import type { Call, Frame } from "../state/frame.ts";
import { scopeOf } from "../state/frame.ts";

/** Returns the result of a node that a person has approved; none before. The gate answers all other decisions. */
export function approvedNode(frame: Frame, pending: Call, nowMs: number): readonly Fact[] {
  const { approval, call } = pending;
  if (approval?.state !== ApprovalState.APPROVED) return [];
  const { callId, name } = call;
  const reason = approval.decision?.reason ?? "";
  const content = reason === "" ? "approved" : `approved: ${reason}`;
  const result = create(ToolResultSchema, { callId, name, content });
  return [toolResultFact(pending, scopeOf(frame), result, nowMs)];
}

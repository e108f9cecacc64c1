import type { Part } from "@a2a-js/sdk";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Approval } from "@reeve/contracts/approval";
import { dataPart, textPart } from "./parts.ts";

/** Returns what a client reads about a question or a decision that a task waits for: a text for people, and data for programs. */
export function requestParts(approval: Approval): readonly Part[] {
  return [textPart(textOf(approval)), dataPart(dataOf(approval))];
}

function textOf({ question, call, approvalId }: Approval): string {
  if (question !== undefined) return question.message;
  const tool = call?.name ?? "a tool";
  return `The call of ${tool} needs an approval. Answer with a data part {"approvalId": "${approvalId}", "decision": "approve"} or "reject".`;
}

function dataOf({ approvalId, question, call, callDigest, expiresAt }: Approval): JsonObject {
  const expires = expiresAt && { expiresAt: timeOf(expiresAt) };
  if (question !== undefined) {
    return {
      kind: "question",
      approvalId,
      question: question.message,
      ...(question.schema && { answerSchema: question.schema }),
      ...expires,
    };
  }
  return {
    kind: "approval",
    approvalId,
    tool: call?.name ?? "",
    arguments: call?.arguments ?? {},
    decisions: ["approve", "reject"],
    ...(callDigest !== "" && { callDigest }),
    ...expires,
  };
}

/** A time as ISO 8601. */
export function timeOf({
  seconds,
  nanos,
}: {
  readonly seconds: bigint;
  readonly nanos: number;
}): string {
  return new Date(Number(seconds) * 1_000 + Math.floor(nanos / 1_000_000)).toISOString();
}

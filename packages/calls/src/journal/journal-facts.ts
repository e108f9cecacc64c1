import { create } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Question, ToolCall, ToolCallFact } from "@reeve/contracts/tool";
import {
  CallStartedSchema,
  QuestionSchema,
  ToolCallFactSchema,
  ToolProgressSchema,
  ToolResultMetadataSchema,
  ToolResultSchema,
  ToolStatus,
} from "@reeve/contracts/tool";
import { truncateToBytes } from "@reeve/agent/text/truncate-to-bytes";
import type { Progress } from "../ports/tool.ts";
import type { Shown } from "../results/offload-result.ts";

const maxMessageBytes = 1_000;
const maxQuestionBytes = 4_000;

export function startedFact(host: string, requestSequence: number): ToolCallFact {
  const value = create(CallStartedSchema, { host, requestSequence: BigInt(requestSequence) });
  return fact({ case: "started", value });
}

/** Progress as it is kept. A tool may say as much as it likes; what is kept goes into one message with its result. */
export function progressFact({ callId, name }: ToolCall, progress: Progress): ToolCallFact {
  const message = truncateToBytes(progress.message, maxMessageBytes);
  return fact({
    case: "progress",
    value: create(ToolProgressSchema, { callId, name, ...progress, message }),
  });
}

/** What a tool asks. It may ask as long as it likes; what is kept goes into the log of the run. */
export function questionFact(question: Question): ToolCallFact {
  const message = truncateToBytes(question.message, maxQuestionBytes);
  return fact({ case: "question", value: create(QuestionSchema, { ...question, message }) });
}

export function resultFact(
  { callId, name }: ToolCall,
  performed: Shown,
  startedAt: Timestamp,
): ToolCallFact {
  const { content, isError, status, executionTimeMs, structured, artifactId } = performed;
  const metadata = create(ToolResultMetadataSchema, {
    status,
    startedAt,
    completedAt: timestampNow(),
    executionTimeMs,
    endReason: performed.endReason ?? "",
    isolation: performed.isolation ?? "none",
    offloadedArtifactId: artifactId ?? "",
    lostChanges: [...(performed.lostChanges ?? [])],
    workspaceRevision: performed.workspaceRevision ?? 0,
  });
  const value = create(ToolResultSchema, {
    callId,
    name,
    content,
    isError,
    metadata,
    ...(structured && { structured }),
  });
  return fact({ case: "result", value });
}

/** The result of a call whose host fell silent while it ran, and which may not be made again. */
export function unknownOutcome(why: string): Shown {
  return {
    content: `the outcome of this call is unknown: ${why}. It may have had its effect or not; look before you call again.`,
    isError: true,
    status: ToolStatus.ERROR,
    executionTimeMs: 0,
  };
}

function fact(value: ToolCallFact["fact"]): ToolCallFact {
  return create(ToolCallFactSchema, { time: timestampNow(), fact: value });
}

import { create } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { truncateToBytes } from "@reeve/agent/text/truncate-to-bytes";
import type { FileChange, Question, ToolCall, ToolCallFact } from "@reeve/contracts/tool";
import {
  CallStartedSchema,
  QuestionSchema,
  ResultExtent,
  ToolCallFactSchema,
  ToolProgressSchema,
  ToolResultMetadataSchema,
  ToolResultSchema,
  ToolStatus,
} from "@reeve/contracts/tool";
import type { CallResult, Progress } from "../ports/tool.ts";

const maxMessageBytes = 1_000;
const maxQuestionBytes = 4_000;

/** What a result records besides what the tool returned. */
export interface ResultRecord {
  readonly startedAt: Timestamp;
  /** See `ToolResultMetadata`. */
  readonly lostChanges?: readonly FileChange[];
  readonly workspaceRevision?: number;
}

/** Returns the fact by which `host` claims a call. `sequence` is the place of its request in the queue; below zero, it is in none. */
export function startedFact(host: string, sequence: number): ToolCallFact {
  const requestSequence = BigInt(Math.max(0, sequence));
  const value = create(CallStartedSchema, { host, requestSequence });
  return fact({ case: "started", value });
}

/** Returns a progress fact, whose message is cut: many of them share one message with the result. */
export function progressFact({ callId, name }: ToolCall, progress: Progress): ToolCallFact {
  const message = truncateToBytes(progress.message, maxMessageBytes);
  return fact({
    case: "progress",
    value: create(ToolProgressSchema, { callId, name, ...progress, message }),
  });
}

/** Returns a question fact, whose message is cut: it is copied to the log of the run. */
export function questionFact(question: Question): ToolCallFact {
  const message = truncateToBytes(question.message, maxQuestionBytes);
  return fact({ case: "question", value: create(QuestionSchema, { ...question, message }) });
}

export function resultFact(
  { callId, name }: ToolCall,
  result: CallResult,
  { startedAt, lostChanges = [], workspaceRevision = 0 }: ResultRecord,
): ToolCallFact {
  const { content, isError, structured } = result;
  const metadata = create(ToolResultMetadataSchema, {
    status: statusOf(result),
    startedAt,
    completedAt: timestampNow(),
    executionTimeMs: result.executionTimeMs ?? 0,
    endReason: result.endReason ?? "",
    isolation: result.isolation ?? "none",
    offloadedArtifactId: result.artifact?.artifactId ?? "",
    offloadedArtifactSha256: result.artifact?.sha256 ?? "",
    lostChanges: [...lostChanges],
    workspaceRevision,
    ...(result.boundContent && { content: result.boundContent }),
    contentChanged: result.contentChanged ?? false,
    extent: result.extent ?? ResultExtent.WHOLE,
  });
  const value = create(ToolResultSchema, {
    callId,
    name,
    content,
    isError,
    metadata,
    files: [...(result.files ?? [])],
    ...(structured && { structured }),
  });
  return fact({ case: "result", value });
}

export function statusOf({ isError, endReason }: CallResult): ToolStatus {
  if (endReason === "timeout") return ToolStatus.TIMED_OUT;
  return isError ? ToolStatus.ERROR : ToolStatus.SUCCESS;
}

/** Returns the result of a call whose host fell silent while it ran, and which must not be executed again. */
export function unknownOutcome(why: string): CallResult {
  const content = `the outcome of this call is unknown: ${why}. It may have had its effect or not; look before you call again.`;
  return { content, isError: true, executionTimeMs: 0 };
}

function fact(value: ToolCallFact["fact"]): ToolCallFact {
  return create(ToolCallFactSchema, { time: timestampNow(), fact: value });
}

import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { truncateToBytes } from "@reeve/agent/text/truncate-to-bytes";
import { memoryReadName, parallelSubtasksName } from "@reeve/agent/tools/runtime-tools";
import { IncompleteReason } from "@reeve/contracts/run";
import type { ToolResult, ToolResultMetadata } from "@reeve/contracts/tool";
import { ToolResultMetadataSchema, ToolResultSchema, ToolStatus } from "@reeve/contracts/tool";
import { incompleteName } from "@reeve/run/head/incomplete-reason";
import { resultBytesIn } from "../budget/frame-caps.ts";
import type { Fact } from "../state/fact.ts";
import type { Call, Frame, Outcome } from "../state/frame.ts";
import { scopeOf } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { toolResultFact } from "../calls/tool-result.ts";
import { taskKey } from "./outcome.ts";

/** Returns the result of a call when all its subtasks have ended; none before. */
export function aggregateResults(
  state: RunState,
  frame: Frame,
  call: Call,
  nowMs: number,
): readonly Fact[] {
  const children = [...state.frames.values()]
    .filter(({ subtask }) => subtask?.callId === call.call.callId)
    .toSorted((a, b) => (a.subtask?.index ?? 0) - (b.subtask?.index ?? 0));
  const canRead = frame.tools.has(memoryReadName);
  const outcomes = children.flatMap(({ id, outcome }) =>
    outcome === undefined ? [] : [{ key: canRead ? taskKey(id) : undefined, outcome }],
  );
  if (outcomes.length < children.length || children.length === 0) return [];
  const resultBytes = resultBytesIn(state, frame);
  const { callId, name } = call.call;
  const result = create(ToolResultSchema, {
    callId,
    name,
    ...(name === parallelSubtasksName
      ? entries(outcomes, resultBytes)
      : single(outcomes[0], resultBytes)),
  });
  return [toolResultFact(call, scopeOf(frame), result, nowMs)];
}

interface EndedSubtask {
  /** Where the complete result is in the shared memory. Undefined: the caller cannot read the memory. */
  readonly key: string | undefined;
  readonly outcome: Outcome;
}

type Contents = Pick<ToolResult, "content" | "isError"> & {
  readonly structured?: JsonObject;
  readonly metadata?: ToolResultMetadata;
};

const incompleteStatus = { status: ToolStatus.INCOMPLETE };

function single(ended: EndedSubtask | undefined, maxBytes: number): Contents {
  if (ended === undefined) return { content: "", isError: true };
  const { key, outcome } = ended;
  if (outcome.kind === "failed") {
    const content = fittingJson((bytes) => errorOf(outcome, bytes), maxBytes);
    return { content, isError: true };
  }
  const isIncomplete = outcome.incomplete !== IncompleteReason.UNSPECIFIED;
  return {
    content: cut(outcome.content, key, maxBytes),
    isError: false,
    ...(outcome.payload && { structured: outcome.payload }),
    ...(isIncomplete && { metadata: create(ToolResultMetadataSchema, incompleteStatus) }),
  };
}

/** Returns one entry per job, in their order. The call failed only if every job failed. */
function entries(outcomes: readonly EndedSubtask[], maxBytes: number): Contents {
  const list = (maxTextBytes: number): JsonValue =>
    outcomes.map((ended, index) => entryOf(index, ended, maxTextBytes));
  return {
    content: fittingJson(list, maxBytes),
    isError: outcomes.every(({ outcome }) => outcome.kind === "failed"),
  };
}

/** Returns the JSON with the longest texts that fits. It stays JSON: texts are cut, at last down to nothing. */
function fittingJson(withTexts: (maxTextBytes: number) => JsonValue, maxBytes: number): string {
  let maxTextBytes = maxBytes;
  let content = JSON.stringify(withTexts(maxTextBytes));
  while (byteLength(content) > maxBytes && maxTextBytes > 0) {
    maxTextBytes = Math.floor(maxTextBytes * 0.7);
    content = JSON.stringify(withTexts(maxTextBytes));
  }
  return content;
}

function entryOf(index: number, { key, outcome }: EndedSubtask, maxTextBytes: number): JsonObject {
  if (outcome.kind === "failed") {
    return { index, status: "error", error: errorOf(outcome, maxTextBytes) };
  }
  const { payload, content, incomplete } = outcome;
  const fits = payload !== undefined && byteLength(content) <= maxTextBytes;
  const status = incompleteName(incomplete) || "success";
  return { index, status, result: fits ? payload : cut(content, key, maxTextBytes) };
}

/** Seven entries without texts fit into the smallest `max_result_bytes`, 1,000. */
const maxReasonBytes = 40;

function errorOf(
  { error, message }: Extract<Outcome, { kind: "failed" }>,
  maxTextBytes: number,
): JsonObject {
  return {
    error: truncateToBytes(error, maxReasonBytes),
    message: truncateToBytes(message, maxTextBytes),
  };
}

/** Cuts a result, and says how to read all of it if the caller can and there is room. */
function cut(content: string, key: string | undefined, maxBytes: number): string {
  if (byteLength(content) <= maxBytes) return content;
  if (key === undefined) return maxBytes > 0 ? truncateToBytes(content, maxBytes) : cutMark;
  const note = `\n[cut; call ${memoryReadName} with key ${key} to read the whole]`;
  const room = maxBytes - byteLength(note);
  return room > 0 ? truncateToBytes(content, room) + note : cutMark;
}

const cutMark = "[cut]";

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { truncateToBytes } from "@reeve/agent/text/truncate-to-bytes";
import { parallelSubtasksName } from "@reeve/agent/tools/runtime-tools";
import type { ToolResult } from "@reeve/contracts/tool";
import { ToolResultSchema } from "@reeve/contracts/tool";
import { limitsOf } from "../budget/limits.ts";
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
  const outcomes = children.flatMap(({ id, outcome }) =>
    outcome === undefined ? [] : [{ id, outcome }],
  );
  if (outcomes.length < children.length || children.length === 0) return [];
  const { resultBytes } = limitsOf(state);
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
  readonly id: string;
  readonly outcome: Outcome;
}

type Contents = Pick<ToolResult, "content" | "isError"> & { readonly structured?: JsonObject };

function single(ended: EndedSubtask | undefined, maxBytes: number): Contents {
  if (ended === undefined) return { content: "", isError: true };
  const { id, outcome } = ended;
  if (outcome.kind === "failed") {
    const { error, message } = outcome;
    const content = truncateToBytes(JSON.stringify({ error, message }), maxBytes);
    return { content, isError: true };
  }
  return {
    content: cut(outcome.content, id, maxBytes),
    isError: false,
    ...(outcome.payload && { structured: outcome.payload }),
  };
}

/** Returns one entry per job, in their order. The call failed only if every job failed. */
function entries(outcomes: readonly EndedSubtask[], maxBytes: number): Contents {
  const list = (maxTextBytes: number): readonly JsonObject[] =>
    outcomes.map(({ id, outcome }, index) => entryOf(index, id, outcome, maxTextBytes));
  let maxTextBytes = maxBytes;
  let content = JSON.stringify(list(maxTextBytes));
  while (byteLength(content) > maxBytes && maxTextBytes > minTextBytes) {
    maxTextBytes = Math.floor(maxTextBytes * 0.7);
    content = JSON.stringify(list(maxTextBytes));
  }
  return {
    content: truncateToBytes(content, maxBytes),
    isError: outcomes.every(({ outcome }) => outcome.kind === "failed"),
  };
}

const minTextBytes = 200;

function entryOf(index: number, id: string, outcome: Outcome, maxTextBytes: number): JsonObject {
  if (outcome.kind === "failed") {
    const { error, message } = outcome;
    return {
      index,
      status: "error",
      error: { error, message: truncateToBytes(message, maxTextBytes) },
    };
  }
  const { payload, content } = outcome;
  const fits = payload !== undefined && byteLength(content) <= maxTextBytes;
  return { index, status: "success", result: fits ? payload : cut(content, id, maxTextBytes) };
}

/** Cuts a result, and says where the complete one is. */
function cut(content: string, id: string, maxBytes: number): string {
  if (byteLength(content) <= maxBytes) return content;
  const note = `\n[cut; the whole is in the shared memory under ${taskKey(id)}]`;
  return truncateToBytes(content, Math.max(0, maxBytes - byteLength(note))) + note;
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

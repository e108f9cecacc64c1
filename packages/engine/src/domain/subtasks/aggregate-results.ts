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

/** The result of a call whose subtasks have all ended; nothing before that. */
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

interface Ended {
  readonly id: string;
  readonly outcome: Outcome;
}

type Contents = Pick<ToolResult, "content" | "isError"> & { readonly structured?: JsonObject };

function single(ended: Ended | undefined, maxBytes: number): Contents {
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

/** One entry for each job, in their order. The call failed only if every job did. */
function entries(outcomes: readonly Ended[], maxBytes: number): Contents {
  const list = (maxText: number): readonly JsonObject[] =>
    outcomes.map(({ id, outcome }, index) => entryOf(index, id, outcome, maxText));
  let maxText = maxBytes;
  let content = JSON.stringify(list(maxText));
  while (byteLength(content) > maxBytes && maxText > smallestText) {
    maxText = Math.floor(maxText * 0.7);
    content = JSON.stringify(list(maxText));
  }
  return {
    content: truncateToBytes(content, maxBytes),
    isError: outcomes.every(({ outcome }) => outcome.kind === "failed"),
  };
}

const smallestText = 200;

function entryOf(index: number, id: string, outcome: Outcome, maxText: number): JsonObject {
  if (outcome.kind === "failed") {
    const { error, message } = outcome;
    return { index, status: "error", error: { error, message: truncateToBytes(message, maxText) } };
  }
  const { payload, content } = outcome;
  const fits = payload !== undefined && byteLength(content) <= maxText;
  return { index, status: "success", result: fits ? payload : cut(content, id, maxText) };
}

/** Whoever reads a part is told where the whole is. */
function cut(content: string, id: string, maxBytes: number): string {
  if (byteLength(content) <= maxBytes) return content;
  const note = `\n[cut; the whole is in the shared memory under ${taskKey(id)}]`;
  return truncateToBytes(content, Math.max(0, maxBytes - byteLength(note))) + note;
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

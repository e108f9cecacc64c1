import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { cutToBytes } from "@reeve/agent/text/cut-to-bytes";
import { parallelSubtasksName } from "@reeve/agent/tools/own-tools";
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
export function aggregate(
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

function single(ended: Ended | undefined, mostBytes: number): Contents {
  if (ended === undefined) return { content: "", isError: true };
  const { id, outcome } = ended;
  if (outcome.kind === "failed") {
    const { error, message } = outcome;
    const content = cutToBytes(JSON.stringify({ error, message }), mostBytes);
    return { content, isError: true };
  }
  return {
    content: cut(outcome.content, id, mostBytes),
    isError: false,
    ...(outcome.payload && { structured: outcome.payload }),
  };
}

/** One entry for each job, in their order. The call failed only if every job did. */
function entries(outcomes: readonly Ended[], mostBytes: number): Contents {
  const list = (mostText: number): readonly JsonObject[] =>
    outcomes.map(({ id, outcome }, index) => entryOf(index, id, outcome, mostText));
  let mostText = mostBytes;
  let content = JSON.stringify(list(mostText));
  while (byteLength(content) > mostBytes && mostText > smallestText) {
    mostText = Math.floor(mostText * 0.7);
    content = JSON.stringify(list(mostText));
  }
  return {
    content: cutToBytes(content, mostBytes),
    isError: outcomes.every(({ outcome }) => outcome.kind === "failed"),
  };
}

const smallestText = 200;

function entryOf(index: number, id: string, outcome: Outcome, mostText: number): JsonObject {
  if (outcome.kind === "failed") {
    const { error, message } = outcome;
    return { index, status: "error", error: { error, message: cutToBytes(message, mostText) } };
  }
  const { payload, content } = outcome;
  const fits = payload !== undefined && byteLength(content) <= mostText;
  return { index, status: "success", result: fits ? payload : cut(content, id, mostText) };
}

/** Whoever reads a part is told where the whole is. */
function cut(content: string, id: string, mostBytes: number): string {
  if (byteLength(content) <= mostBytes) return content;
  const note = `\n[cut; the whole is in the shared memory under ${taskKey(id)}]`;
  return cutToBytes(content, Math.max(0, mostBytes - byteLength(note))) + note;
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

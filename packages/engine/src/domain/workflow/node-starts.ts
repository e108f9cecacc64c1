import type { JsonObject } from "@bufbuild/protobuf";
import { isStorable } from "@reeve/contracts/rules/nesting";
import type { Fact } from "../state/fact.ts";
import { bytesOf, fact, rootScope } from "../state/fact.ts";
import type { Frame } from "../state/frame.ts";
import { scopeOf } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";

/** A call that a node makes. */
export interface NodeStart {
  readonly nodeId: string;
  /** Position of the node in the workflow. */
  readonly position: number;
  /** Index of the item of a map; 0 for other nodes. */
  readonly item: number;
  readonly tool: string;
  readonly args: JsonObject;
}

/** The inputs of one call, in bytes of JSON. */
export const maxValueBytes = 256 * 1024;
/** The fact of one call, in bytes: a list of small numbers takes more in the log than as JSON. */
const maxFactBytes = 512 * 1024;

/** Returns why a call cannot have its arguments. Undefined: it can. */
export function argumentsProblem(args: JsonObject): string | undefined {
  // First: JSON.stringify throws for what is nested too deeply.
  if (!isStorable(args)) return "its inputs are nested too deeply; pass them as a text";
  const bytes = byteLength(JSON.stringify(args));
  if (bytes > maxValueBytes) {
    return `its inputs have ${bytes} bytes; the limit is ${maxValueBytes}; pass a file or an artifact instead`;
  }
  const inLog = bytesInLog(args);
  if (inLog > maxFactBytes) {
    return `its inputs take ${inLog} bytes in the log; the limit is ${maxFactBytes}; pass a file, an artifact, or a text instead`;
  }
  return undefined;
}

/** Returns how many bytes a value takes in the log, as the arguments of a call. */
function bytesInLog(args: JsonObject): number {
  return bytesOf(fact(rootScope, { case: "toolCall", value: { arguments: args } }));
}

/** Returns why the log cannot have an answer that is a record. Undefined: it can. */
export function recordProblem(record: JsonObject): string | undefined {
  const bytes = bytesInLog(record);
  return bytes > maxFactBytes
    ? `the answer of the workflow takes ${bytes} bytes in the log; the limit is ${maxFactBytes}; write it to a file or an artifact, or answer with a text`
    : undefined;
}

export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Returns the fact of a call, with an id that depends on the node alone. */
export function startedNode(state: Pick<RunState, "head">, frame: Frame, start: NodeStart): Fact {
  return fact(scopeOf(frame), { case: "toolCall", value: callOfStart(state, frame, start) });
}

/** Returns the call of a node, with an id that depends on the node alone. */
export function callOfStart(
  { head: { runId, created } }: Pick<RunState, "head">,
  frame: Frame,
  { nodeId, position, item, tool, args }: NodeStart,
) {
  // As the ids of a model's calls, which have the sequence of the model call in its place.
  const number = (created?.callOffset ?? 0) + frame.stepSequence;
  const callId = `${runId}-${number}-${position * callsOfNode + item}`;
  return { callId, name: tool, arguments: args, nodeId, itemIndex: item };
}

/** More calls than a node makes. */
const callsOfNode = 1_000;

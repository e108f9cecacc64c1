import type { GuardVerdict } from "@reeve/contracts/run";
import type { ToolResult } from "@reeve/contracts/tool";
import { guardedResult } from "@reeve/run/guardrails/guard-verdict";
import type { Call, Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { withNewest } from "../state/units.ts";
import { taskKey } from "../subtasks/outcome.ts";

/** Replaces the result of a call by what its guards leave of it, wherever models and nodes would read it. */
export function withResult(
  state: RunState,
  frame: Frame,
  callId: string,
  guards: readonly GuardVerdict[],
): RunState {
  const call = frame.calls.find((each) => each.call.callId === callId);
  if (call?.result === undefined) return state;
  const before = call.result;
  const result = guardedResult(before, guards);
  const pendingMemory = guardedMemory(frame, callId, before, result);
  const checked = withFrame(state, { ...frame, pendingMemory });
  // What a node made of a call is known by its object, and follows from the memory too.
  const isForgotten = pendingMemory.size < frame.pendingMemory.size;
  if (result === before && !isForgotten) return checked;
  const calls = frame.calls.map((each): Call => (each === call ? { ...call, result } : each));
  const newest = frame.units.newest?.value;
  const units =
    newest?.kind === "turn" && frame.hasTurn
      ? withNewest(frame.units, { ...newest, calls })
      : frame.units;
  const changed = withFrame(checked, { ...frame, pendingMemory, calls, units });
  return withoutArtifacts(changed, before, result);
}

/**
 * Returns what the subtasks of the open step leave in the memory, after guards have checked the result of one call: only what they
 * have checked. A node of a workflow reads the result itself.
 */
function guardedMemory(
  { pendingMemory, workflow }: Frame,
  callId: string,
  { content: given }: ToolResult,
  { content }: ToolResult,
): Frame["pendingMemory"] {
  const key = taskKey(callId);
  const entries = [...pendingMemory].flatMap(([name, text]): readonly [string, string][] => {
    if (name === key) return workflow === undefined ? [[name, content]] : [];
    if (!name.startsWith(`${key}/`)) return [[name, text]];
    return [[name, content === given && hasText(given, text) ? text : withheldPart]];
  });
  return new Map(entries);
}

const withheldPart =
  "[withheld: guards look at the result of the call, and have not passed this part as it is]";

/** Whether the entries of several subtasks, which are JSON, have the whole text of one of them. */
function hasText(entries: string, text: string): boolean {
  return entries.includes(text) || entries.includes(JSON.stringify(text).slice(1, -1));
}

/** No tool reads the artifacts that guards took from a result. */
function withoutArtifacts(state: RunState, before: ToolResult, after: ToolResult): RunState {
  const kept = new Set(artifactsOf(after));
  const withheld = artifactsOf(before).filter((id) => !kept.has(id));
  if (withheld.length === 0) return state;
  return {
    ...state,
    offloaded: new Set([...state.offloaded].filter((id) => !withheld.includes(id))),
    withheld: new Set([...state.withheld, ...withheld]),
  };
}

function artifactsOf({ files, metadata }: ToolResult): readonly string[] {
  const whole = metadata?.offloadedArtifactId ?? "";
  return [...(whole === "" ? [] : [whole]), ...files.map(({ artifactId }) => artifactId)];
}

function withFrame(state: RunState, frame: Frame): RunState {
  return { ...state, frames: new Map(state.frames).set(frame.id, frame) };
}

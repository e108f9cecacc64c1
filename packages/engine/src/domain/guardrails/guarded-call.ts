import type { PluginHookFinished } from "@reeve/contracts/run";
import type { ToolResult } from "@reeve/contracts/tool";
import { guardedResult, isRefusal } from "@reeve/run/guardrails/guard-verdict";
import { redactAt } from "@reeve/run/guardrails/redact-messages";
import type { Call, Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { withNewest } from "../state/units.ts";
import { taskKey } from "../subtasks/outcome.ts";
import { resultTexts } from "./result-texts.ts";

/** What guards said of a result. */
export type ResultVerdicts = Pick<PluginHookFinished, "callId" | "guards" | "checkedWhole">;

/** Replaces the result of a call by what its guards leave of it, wherever models and nodes would read it. */
export function withResult(state: RunState, frame: Frame, verdicts: ResultVerdicts): RunState {
  const { callId, guards, checkedWhole } = verdicts;
  const call = frame.calls.find((each) => each.call.callId === callId);
  if (call?.result === undefined) return state;
  const before = call.result;
  const result = guardedResult(before, guards);
  const pendingMemory = guardedMemory(frame, before, result, verdicts);
  const checked = withoutArtifacts(
    withFrame(state, { ...frame, pendingMemory }),
    artifactsOf(before),
    keptArtifacts(result, checkedWhole),
  );
  // What a node made of a call is known by its object, and follows from the memory too.
  const isForgotten = pendingMemory.size < frame.pendingMemory.size;
  if (result === before && !isForgotten) return checked;
  const calls = frame.calls.map((each): Call => (each === call ? { ...call, result } : each));
  const newest = frame.units.newest?.value;
  const units =
    newest?.kind === "turn" && frame.hasTurn
      ? withNewest(frame.units, { ...newest, calls })
      : frame.units;
  return withFrame(checked, { ...frame, pendingMemory, calls, units });
}

/**
 * Returns what the subtasks of the open step leave in the memory, after guards have checked the result of one call: only what they
 * have checked. A node of a workflow reads the result itself, if they have not checked the whole.
 */
function guardedMemory(
  frame: Frame,
  before: ToolResult,
  { content }: ToolResult,
  verdicts: ResultVerdicts,
): Frame["pendingMemory"] {
  const { pendingMemory, workflow } = frame;
  const { content: given } = before;
  const key = taskKey(verdicts.callId);
  const whole = guardedWhole(frame, before, verdicts);
  const entries = [...pendingMemory].flatMap(([name, text]): readonly [string, string][] => {
    if (name === key && whole !== undefined) return [[name, whole]];
    if (name === key) return workflow === undefined ? [[name, content]] : [];
    if (!name.startsWith(`${key}/`)) return [[name, text]];
    return [[name, content === given && hasText(given, text) ? text : withheldPart]];
  });
  return new Map(entries);
}

/** Returns what guards leave of the whole answer of a subtask. Undefined: they have not passed it, or the result has all of it. */
function guardedWhole(
  frame: Frame,
  result: ToolResult,
  { guards, checkedWhole }: ResultVerdicts,
): string | undefined {
  const { texts, wholeAt } = resultTexts(frame, result);
  if (!checkedWhole || wholeAt === undefined || guards.some(isRefusal)) return undefined;
  const redactions = guards.flatMap((each) => each.redactions);
  return redactAt(texts[wholeAt] ?? "", wholeAt, redactions);
}

const withheldPart =
  "[withheld: guards look at the result of the call, and have not passed this part as it is]";

/** Whether the entries of several subtasks, which are JSON, have the whole text of one of them. */
function hasText(entries: string, text: string): boolean {
  return entries.includes(text) || entries.includes(JSON.stringify(text).slice(1, -1));
}

/** No tool reads the artifacts of a result that its guards took from it, or have not checked. */
function withoutArtifacts(
  state: RunState,
  before: readonly string[],
  kept: readonly string[],
): RunState {
  const withheld = before.filter((id) => !kept.includes(id));
  if (withheld.length === 0) return state;
  return {
    ...state,
    offloaded: new Set([...state.offloaded].filter((id) => !withheld.includes(id))),
    withheld: new Set([...state.withheld, ...withheld]),
  };
}

function keptArtifacts(result: ToolResult, checkedWhole: boolean): readonly string[] {
  const whole = result.metadata?.offloadedArtifactId;
  return artifactsOf(result).filter((id) => checkedWhole || id !== whole);
}

function artifactsOf({ files, metadata }: ToolResult): readonly string[] {
  const whole = metadata?.offloadedArtifactId ?? "";
  return [...(whole === "" ? [] : [whole]), ...files.map(({ artifactId }) => artifactId)];
}

function withFrame(state: RunState, frame: Frame): RunState {
  return { ...state, frames: new Map(state.frames).set(frame.id, frame) };
}

import {
  finishSubtaskName,
  parallelSubtasksName,
  runSubtaskName,
} from "@reeve/agent/tools/runtime-tools";
import { limitsOf } from "../budget/limits.ts";
import type { Frame } from "../state/frame.ts";
import { plannerId, rootId } from "../state/frame.ts";
import { plannerPrompt } from "../planner/planner-prompt.ts";
import type { RunState } from "../state/run-state.ts";

/** What the model of a frame is told before the conversation: what the agent is, and what holds where it stands. */
export function systemPrompt(state: RunState, frame: Frame): string {
  const spec = state.head.created?.spec;
  const agent = spec?.instructions ?? "";
  if (frame.id === plannerId) return paragraphs(agent, plannerPrompt(spec));
  if (frame.id === rootId) return paragraphs(agent, rootWords(state, frame));
  return paragraphs(
    agent,
    childWords,
    frame.subtask?.job.systemPrompt ?? "",
    decomposing(state, frame),
    frame.tools.has(finishSubtaskName) ? finishWords : "",
  );
}

function rootWords(state: RunState, frame: Frame): string {
  const words = decomposing(state, frame);
  if (words === "") return "";
  return `Answer directly whatever you can answer directly, and use tools yourself for what takes a call or two. ${words}`;
}

/** How and when to begin subtasks, where that is possible. */
function decomposing(state: RunState, frame: Frame): string {
  const names = [runSubtaskName, parallelSubtasksName].filter((name) => frame.tools.has(name));
  const [first] = names;
  if (frame.depth >= limitsOf(state).depth || first === undefined) return "";
  const parallel =
    names.length > 1 ? ` ${parallelSubtasksName} does several independent parts in one call.` : "";
  return `For a larger part that can be described by itself, call ${first}. Subtasks that you begin in one turn run at the same time and cannot read each other's results: begin one that depends on another in a later turn.${parallel}`;
}

const childWords =
  "You work on a subtask. You know what stands in its instructions and nothing of the conversation that led to it; what you answer at the end is its result, and nobody can be asked. The shared memory of the run, if you have tools for it, may hold results of earlier subtasks under task:<id>.";

const finishWords = `End this subtask by calling ${finishSubtaskName} with the result; text alone does not end it.`;

function paragraphs(...texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join("\n\n");
}

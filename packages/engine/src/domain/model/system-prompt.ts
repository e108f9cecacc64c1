import {
  askUserName,
  finishSubtaskName,
  parallelSubtasksName,
  runSubtaskName,
  runtimeSource,
} from "@reeve/agent/tools/runtime-tools";
import { workingAgent } from "../delegates/working-agent.ts";
import { limitsOf } from "../budget/limits.ts";
import type { Frame } from "../state/frame.ts";
import { plannerId, rootId } from "../state/frame.ts";
import { plannerPrompt } from "../planner/planner-prompt.ts";
import type { RunState } from "../state/run-state.ts";
import { requiresResult } from "../subtasks/finish-subtask.ts";
import { skillsPrompt } from "./skills-prompt.ts";

/** Returns the system prompt of a frame: the agent's instructions, and the rules for a planner, the root, or a subtask. */
export function systemPrompt(state: RunState, frame: Frame): string {
  const { spec } = workingAgent(state, frame);
  const agent = spec?.instructions ?? "";
  const skills = skillsPrompt(state, frame);
  if (frame.id === plannerId) return paragraphs(agent, skills, plannerPrompt(spec));
  if (frame.id === rootId) {
    const finish = requiresResult(frame) ? finishRunRule : "";
    return paragraphs(agent, skills, rootRules(state, frame), finish);
  }
  return paragraphs(
    agent,
    skills,
    childRules(frame),
    frame.subtask?.job.systemPrompt ?? "",
    subtaskRules(state, frame),
    frame.tools.has(finishSubtaskName) ? finishRule : "",
  );
}

function rootRules(state: RunState, frame: Frame): string {
  const words = subtaskRules(state, frame);
  if (words === "") return "";
  return `Answer directly whatever you can answer directly, and use tools yourself for what takes a call or two. ${words}`;
}

/** Returns the rules for starting subtasks; empty if the frame cannot start any. */
function subtaskRules(state: RunState, frame: Frame): string {
  const names = [runSubtaskName, parallelSubtasksName].filter((name) => frame.tools.has(name));
  const [first] = names;
  if (frame.depth >= limitsOf(state).depth || first === undefined) return "";
  const parallel =
    names.length > 1 ? ` ${parallelSubtasksName} does several independent parts in one call.` : "";
  return `For a larger part that can be described by itself, call ${first}. Subtasks that you begin in one turn run at the same time and cannot read each other's results: begin one that depends on another in a later turn.${parallel}`;
}

function childRules({ tools }: Frame): string {
  const ask = tools.get(askUserName);
  const questions =
    ask?.source === runtimeSource
      ? `only ${askUserName} asks a question`
      : "you cannot ask questions";
  return `You work on a subtask. You know its instructions and nothing of the conversation that led to it; your last answer is its result, and ${questions}. The shared memory of the run, if you have tools for it, may hold results of earlier subtasks under task:<id>.`;
}

const finishRule = `End this subtask by calling ${finishSubtaskName} with the result; text alone does not end it.`;

const finishRunRule = `Give your answer by calling ${finishSubtaskName}; text alone does not end the run.`;

function paragraphs(...texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join("\n\n");
}

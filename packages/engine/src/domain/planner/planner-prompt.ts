import type { AgentSpec } from "@reeve/contracts/agent";

const builtIn =
  "Before the work on the user's last message begins, make a plan for it. Do not carry the work out and do not answer the user: look only as far as the plan needs. Keep it short: the fewest steps that lead to the goal, in order, each a sentence that says what is to be done.";

const format =
  'Answer with the plan alone, as JSON: {"steps": ["first step", "second step"]}. If no plan is needed, answer {"steps": []}.';

/** Returns the planner's part of the system prompt: the agent's or the built-in instructions, and the format of the answer. */
export function plannerPrompt(spec: AgentSpec | undefined): string {
  const instructions = spec?.planningInstructions ?? "";
  return `${instructions === "" ? builtIn : instructions}\n\n${format}`;
}

/** Returns the note that shows the plan to the executing model; empty without a plan. */
export function planNote(steps: readonly string[] | undefined): string {
  if (steps === undefined || steps.length === 0) return "";
  const list = steps.map((step, index) => `${index + 1}. ${step}`).join("\n");
  return `[plan for this task; depart from it where it proves wrong]\n${list}`;
}

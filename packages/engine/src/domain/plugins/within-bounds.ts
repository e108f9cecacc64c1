import { create } from "@bufbuild/protobuf";
import { RunHookResponseSchema } from "@reeve/contracts/extensions/plugin";
import type { Fact } from "../state/fact.ts";
import { fact } from "../state/fact.ts";
import type { RunState } from "../state/run-state.ts";
import { boundsProblem } from "./answer-problem.ts";
import { idOf } from "./plugin-state.ts";

/**
 * Returns the fact of a hook as a failure if its answer exceeds the bounds of the run in `state`. Each of several hooks that run at the
 * same time may fit alone, and not after the others.
 */
export function withinBounds(state: RunState, given: Fact): Fact {
  const { event, scope } = given;
  if (event.case !== "pluginHookFinished" || event.value.answer === undefined) return given;
  const { hookId = "", pluginId } = event.value;
  const answer = create(RunHookResponseSchema, event.value.answer);
  if (answer.actions.length + answer.patches.length === 0) return given;
  const pinned = state.plugins?.pinned.find((each) => idOf(each) === pluginId);
  if (pinned === undefined) return given;
  const action = state.plugins?.actions.find((each) => each.hookId === hookId);
  const error = boundsProblem(state, { hookId, action }, pinned, answer);
  if (error === undefined) return given;
  const { answer: _, ...value } = event.value;
  return fact(scope, { case: "pluginHookFinished", value: { ...value, error } });
}

import type { StopConditions } from "@reeve/agent/plugins/stop-section";
import { stopConditionsOf } from "@reeve/agent/plugins/stop-section";
import { lastCharacters } from "@reeve/agent/text/truncate-characters";
import { canonicalJson } from "@reeve/contracts/digest/canonical-json";
import type { ModelTurn } from "@reeve/contracts/run";
import { ApprovalStatus } from "@reeve/contracts/tool";
import { workingAgent } from "../delegates/working-agent.ts";
import type { Call, Frame, TurnUnit, Unit } from "../state/frame.ts";
import { plannerId } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { isStopped } from "./stopped-call.ts";

/** Why a frame stops after its last turn, although its model would continue. */
export interface Stop {
  /** The constant of an error. Empty: the frame completes. */
  readonly error: "" | "consecutive_errors" | "loop_detected";
  readonly message: string;
}

/**
 * Returns why a frame stops after the turn of its open or last step. It depends on the conversation up to that turn only, not on the
 * results of its calls, so it is the same until the frame has ended. Undefined: it does not.
 */
export function stopAfterTurn(state: RunState, frame: Frame): Stop | undefined {
  const newest = frame.units.newest?.value;
  const conditions = stopConditionsOf(workingAgent(state, frame).spec);
  if (conditions === undefined || newest?.kind !== "turn" || frame.id === plannerId) {
    return undefined;
  }
  // What guards refused is void: its calls are not made, and its text is not read.
  if (newest.refusal !== undefined) return undefined;
  // An answer without calls ends a frame anyway.
  if (!frame.hasTurn || newest.calls.length === 0) return undefined;
  const known = stops.get(newest.turn);
  if (known !== undefined) return known.stop;
  const stop = stopOf(conditions, frame, newest);
  stops.set(newest.turn, { stop });
  return stop;
}

const stops = new WeakMap<ModelTurn, { readonly stop: Stop | undefined }>();

function stopOf(conditions: StopConditions, frame: Frame, turn: TurnUnit): Stop | undefined {
  const { tools, content, consecutive_errors: maxErrors, repeated_turns: maxTurns } = conditions;
  const called = turn.calls.find(({ call }) => tools.includes(call.name));
  if (called !== undefined) {
    return { error: "", message: `stopped: the model called ${called.call.name}` };
  }
  const end = lastCharacters(turn.text, checkedCharacters);
  const matching = content.find(({ matcher }) => matcher.matches(end));
  if (matching !== undefined) {
    return { error: "", message: `stopped: the text of the model matches /${matching.text}/` };
  }
  if (maxTurns !== undefined && repetitionsOf(frame, turn, maxTurns) >= maxTurns) {
    const message = `the model made the same calls in ${maxTurns} turns in a row; narrow the task, or raise repeated_turns of the section stop`;
    return { error: "loop_detected", message };
  }
  if (maxErrors !== undefined && errorsBefore(frame, maxErrors) >= maxErrors) {
    const message = `${maxErrors} calls in a row failed; look at their results, or raise consecutive_errors of the section stop`;
    return { error: "consecutive_errors", message };
  }
  return undefined;
}

/** How much of the end of a turn's text is compared with expressions, in characters. */
const checkedCharacters = 4_096;

/** Returns how many of the newest turns make the same calls as `turn`, itself included, up to `max`. */
function repetitionsOf({ units }: Frame, turn: TurnUnit, max: number): number {
  const wanted = callsOf(turn);
  let found = 0;
  for (let entry = units.newest; entry !== undefined && found < max; entry = entry.before) {
    if (entry.value.kind !== "turn" || callsOf(entry.value) !== wanted) break;
    found += 1;
  }
  return found;
}

/** Returns the calls of a turn as the model made them: plugins replace the arguments of a turn after it was recorded. */
function callsOf({ calls }: TurnUnit): string {
  const parts = calls.map(({ call, requested = call }) => {
    const { name, arguments: args, rawArguments } = requested;
    return [name, args === undefined ? rawArguments : canonicalJson(args)];
  });
  return JSON.stringify(parts);
}

/** Returns how many results before the newest turn are errors, without a success in between, up to `max`. */
function errorsBefore({ units }: Frame, max: number): number {
  let errors = 0;
  for (
    let entry = units.newest?.before;
    entry !== undefined && errors < max;
    entry = entry.before
  ) {
    const calls = callsThatCount(entry.value);
    for (const { result } of calls.toReversed()) {
      if (result?.isError !== true) return errors;
      errors += 1;
    }
  }
  return errors;
}

/** Returns the calls of a turn that may fail on their own. A message of the user, a refusal by people, or a stop ends no row. */
function callsThatCount(unit: Unit): readonly Call[] {
  if (unit.kind !== "turn") return [];
  return unit.calls.filter((call) => !isStopped(call) && !isRefusedByPeople(call));
}

function isRefusedByPeople({ result }: Call): boolean {
  const { REJECTED, TIMED_OUT } = ApprovalStatus;
  const status = result?.metadata?.approvalStatus;
  return status === REJECTED || status === TIMED_OUT;
}

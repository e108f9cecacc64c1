import { create } from "@bufbuild/protobuf";
import { RunHookResponseSchema } from "@reeve/contracts/extensions/plugin";
import { GuardVerdictSchema } from "@reeve/contracts/run";
import { guardsAt } from "../../domain/guardrails/guards-at.ts";
import type { GuardSubject } from "../../domain/guardrails/guard-subject.ts";
import { subjectAt } from "../../domain/guardrails/guard-subject.ts";
import type { HookPoint } from "../../domain/plugins/hook-point.ts";
import type { RunState } from "../../domain/state/run-state.ts";
import type { RunPorts } from "../../ports/run-ports.ts";
import type { Outcome } from "../plugins/hook-outcome.ts";
import type { GuardOutcome } from "./check-guards.ts";
import { checkGuards } from "./check-guards.ts";
import { isChecked, partOf, wholeResult, withOneRedaction } from "./whole-result.ts";

/** Runs the guards of a point, and returns what the log records of them. An error of a guard fails the hook: nothing passes unchecked. */
export async function guardHook(
  state: RunState,
  point: HookPoint,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<Outcome> {
  try {
    const guards = guardsAt(state, point);
    const subject = subjectAt(state, point);
    const whole = await wholeResult(state, point, subject, ports, signal);
    if (whole !== undefined) {
      const outcome = await checkGuards(state, guards, whole.subject, ports, signal);
      if (isChecked(outcome)) {
        return { ...recorded(withOneRedaction(outcome, whole.artifactAt)), checkedWhole: true };
      }
    }
    const outcome = await checkGuards(state, guards, partOf(subject), ports, signal);
    const isWorkflow = state.frames.get(point.frame)?.workflow !== undefined;
    return recorded(isWorkflow ? withReplacement(outcome, subject) : outcome);
  } catch (error) {
    signal.throwIfAborted();
    return failedCheck(error);
  }
}

/** Records the answer of a workflow that is a record with what guards replaced in it: redactions have places in texts only. */
function withReplacement(outcome: GuardOutcome, { target, json }: GuardSubject): GuardOutcome {
  const { redacted, answer } = outcome;
  const isReplaced = target === "output" && redacted.json !== undefined && redacted.json !== json;
  if (!isReplaced || answer.verdict !== undefined) return outcome;
  return {
    ...outcome,
    answer: { verdict: { case: "rewrite", value: { arguments: redacted.json } } },
  };
}

/** Returns how a check ended that threw. */
export function failedCheck(error: unknown): Outcome {
  const problem = error instanceof Error ? error.message : String(error);
  return { error: `its guards could not check: ${problem}`, attempts: 1 };
}

/** Returns what the log records of guards. */
export function recorded({ verdicts, answer }: GuardOutcome): Outcome {
  return {
    answer: create(RunHookResponseSchema, answer),
    error: "",
    attempts: 1,
    guards: verdicts.map((each) => create(GuardVerdictSchema, each)),
  };
}

import { create } from "@bufbuild/protobuf";
import { RunHookResponseSchema } from "@reeve/contracts/extensions/plugin";
import { GuardVerdictSchema } from "@reeve/contracts/run";
import { guardsAt } from "../../domain/guardrails/guards-at.ts";
import { subjectAt } from "../../domain/guardrails/guard-subject.ts";
import type { HookPoint } from "../../domain/plugins/hook-point.ts";
import type { RunState } from "../../domain/state/run-state.ts";
import type { RunPorts } from "../../ports/run-ports.ts";
import type { Outcome } from "../plugins/hook-outcome.ts";
import type { GuardOutcome } from "./check-guards.ts";
import { checkGuards } from "./check-guards.ts";

/** Runs the guards of a point, and returns what the log records of them. An error of a guard fails the hook: nothing passes unchecked. */
export async function guardHook(
  state: RunState,
  point: HookPoint,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<Outcome> {
  try {
    const guards = guardsAt(state, point);
    return recorded(await checkGuards(state, guards, subjectAt(state, point), ports, signal));
  } catch (error) {
    signal.throwIfAborted();
    return failedCheck(error);
  }
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

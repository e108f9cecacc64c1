import { create } from "@bufbuild/protobuf";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import { HookPhase } from "@reeve/contracts/extensions/plugin";
import { GuardAction } from "@reeve/contracts/run";
import type { ToolCall } from "@reeve/contracts/tool";
import { ToolCallSchema } from "@reeve/contracts/tool";
import { answerSubject } from "../../domain/guardrails/guard-subject.ts";
import { guardsOfAnswer } from "../../domain/guardrails/guards-at.ts";
import type { RunGuard } from "../../domain/guardrails/pinned-guards.ts";
import { guardrailsId } from "../../domain/guardrails/pinned-guards.ts";
import type { ReceivedTurn } from "../../domain/model/model-turn-facts.ts";
import { modelTurnFacts } from "../../domain/model/model-turn-facts.ts";
import { hookIdOf, stepPoint } from "../../domain/plugins/hook-points.ts";
import type { Fact } from "../../domain/state/fact.ts";
import { fact, textPart } from "../../domain/state/fact.ts";
import type { Frame } from "../../domain/state/frame.ts";
import { scopeOf } from "../../domain/state/frame.ts";
import type { RunState } from "../../domain/state/run-state.ts";
import type { RunPorts } from "../../ports/run-ports.ts";
import { inHookSpan } from "../../tracing/hook-span.ts";
import type { Outcome } from "../plugins/hook-outcome.ts";
import type { GuardOutcome } from "./check-guards.ts";
import { checkGuards } from "./check-guards.ts";
import { failedCheck, recorded } from "./guard-hook.ts";

/** An answer of which nothing was shown yet. */
export interface HeldAnswer {
  readonly taken: ReceivedTurn;
  readonly text: string;
  readonly reasoning: string;
  readonly guards: readonly RunGuard[];
}

/** How the check of an answer ended. Without an outcome, it failed. */
interface Checked extends Outcome {
  readonly outcome?: GuardOutcome;
}

/** The format of messages with replaced texts: no provider has it, so each builds the message from its text and its calls. */
const redactedFormat = "redacted";

/**
 * Returns the facts of an answer that its guards held back: its text as far as they permit, the turn, and their verdicts. They are
 * recorded together, so that no reader sees the text without the verdicts.
 */
export async function heldAnswerFacts(
  state: RunState,
  frame: Frame,
  { taken, text, reasoning, guards: holding }: HeldAnswer,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<readonly Fact[]> {
  const turn = modelTurnFacts(state, frame, taken);
  const calls = turn.flatMap(callIn);
  const guards = guardsOfAnswer(holding, frame, { text, calls });
  const shown = (given: string) => [
    ...shownPart(frame, "reasoning", reasoning),
    ...shownPart(frame, "text", given),
  ];
  if (guards.length === 0) return [...shown(text), ...turn];
  const place = { pluginId: guardrailsId, phase: HookPhase.AFTER_INFERENCE, callId: "" };
  const checked = await inHookSpan(place, async (): Promise<Checked> => {
    try {
      const subject = answerSubject({ text }, calls);
      const outcome = await checkGuards(state, guards, subject, ports, signal);
      return { ...recorded(withoutRedactions(outcome)), outcome };
    } catch (error) {
      signal.throwIfAborted();
      return failedCheck(error);
    }
  });
  const ended = hookFact(state, frame, checked);
  if (checked.outcome === undefined) {
    // No guard has checked it: later turns of the thread must not read it.
    return [...turn.map((each) => withReplacements(each, undefined)), ended];
  }
  const { verdicts, redacted } = checked.outcome;
  const isRefused = verdicts.some(
    ({ action }) => action === GuardAction.REFUSE || action === GuardAction.STOP,
  );
  if (isRefused) return [...turn, ended];
  const isChanged = verdicts.some(({ action }) => action === GuardAction.REDACT);
  const given = isChanged ? turn.map((each) => withReplacements(each, redacted.json)) : turn;
  return [...shown(redacted.texts[0] ?? ""), ...given, ended];
}

function shownPart(frame: Frame, kind: "text" | "reasoning", text: string): readonly Fact[] {
  return text === "" ? [] : [textPart(scopeOf(frame), kind, text)];
}

function callIn({ event }: Fact): readonly { readonly call: ToolCall }[] {
  return event.case === "toolCall" ? [{ call: create(ToolCallSchema, event.value) }] : [];
}

/** The text is recorded as it is shown, so that nothing is replaced in it later. */
function withoutRedactions(outcome: GuardOutcome): GuardOutcome {
  return {
    ...outcome,
    verdicts: outcome.verdicts.map((each) => ({ ...each, redactions: [] })),
  };
}

function withReplacements(given: Fact, json: ToolCall["arguments"]): Fact {
  const { event, scope } = given;
  if (event.case === "modelTurn") {
    const value = { ...event.value, messageJson: new Uint8Array(), format: redactedFormat };
    return fact(scope, { case: "modelTurn", value });
  }
  if (event.case !== "toolCall" || event.value.name !== finishSubtaskName || json === undefined) {
    return given;
  }
  return fact(scope, { case: "toolCall", value: { ...event.value, arguments: json } });
}

function hookFact(state: RunState, frame: Frame, outcome: Outcome): Fact {
  const { answer, error, attempts, guards = [] } = outcome;
  const phase = HookPhase.AFTER_INFERENCE;
  return fact(scopeOf(frame), {
    case: "pluginHookFinished",
    value: {
      pluginId: guardrailsId,
      phase,
      hookId: hookIdOf(state, stepPoint(frame, phase), guardrailsId),
      callId: "",
      ...(answer && { answer }),
      error,
      attempts,
      guards: [...guards],
    },
  });
}

import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { textOf } from "@reeve/agent/workflow/node-call";
import type { GuardVerdict, PluginHookFinished } from "@reeve/contracts/run";
import { isRefusal, nameOfGuard } from "@reeve/run/guardrails/guard-verdict";
import { redactAt } from "@reeve/run/guardrails/redact-messages";
import type { Frame, FrameWorkflow } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { evaluate } from "../workflow/evaluate.ts";
import { parallelCallsIn } from "../budget/frame-caps.ts";

/** Returns the answer of a frame's workflow once all of its calls have ended, also if the workflow that called it has failed. Undefined: it has none. */
export function workflowAnswer(state: RunState, frame: Frame): JsonValue | undefined {
  const { workflow, calls } = frame;
  if (workflow === undefined || calls.some(({ result }) => result === undefined)) return undefined;
  const { answer, failure } = evaluate(frame, workflow, parallelCallsIn(state, frame));
  return failure === undefined ? answer : undefined;
}

/** Returns the answer of a workflow as guards look at it: a record as one, anything else as the text that clients read. */
export function asSubject(answer: JsonValue): {
  readonly texts: readonly string[];
  readonly json?: JsonObject;
} {
  const isRecord = typeof answer === "object" && answer !== null && !Array.isArray(answer);
  return isRecord ? { texts: [], json: answer } : { texts: [textOf(answer)] };
}

/** Returns a workflow after the verdicts on its answer. Nobody can answer again in its place: a refusal ends it. */
export function withAnswerVerdicts(
  workflow: FrameWorkflow,
  answer: JsonValue,
  { guards, answer: response }: Pick<PluginHookFinished, "guards" | "answer">,
): FrameWorkflow {
  const refusing = guards.find(isRefusal);
  if (refusing !== undefined)
    return { ...workflow, guardedAnswer: { refusal: refusalBy(refusing) } };
  if (response?.verdict.case === "rewrite") {
    const replacement = response.verdict.value.arguments ?? {};
    return { ...workflow, guardedAnswer: { replacement } };
  }
  const redactions = guards.flatMap((each) => each.redactions);
  if (redactions.length === 0) return workflow;
  const [text = ""] = asSubject(answer).texts;
  return { ...workflow, guardedAnswer: { replacement: redactAt(text, 0, redactions) } };
}

function refusalBy(verdict: GuardVerdict): string {
  return `${nameOfGuard(verdict)} refuses the answer of the workflow: ${verdict.reason}`;
}

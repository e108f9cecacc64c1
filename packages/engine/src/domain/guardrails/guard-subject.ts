import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { GuardTarget } from "@reeve/agent/guardrails/guard";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import { textsOf } from "@reeve/run/guardrails/redact-messages";
import { approvedCall } from "../calls/approved-call.ts";
import type { HookPoint } from "../plugins/hook-point.ts";
import type { Call, Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { frameOf } from "../state/run-state.ts";
import { asMessage, newMessages } from "./apply-verdicts.ts";
import { targetAt } from "./guards-at.ts";
import { resultTexts } from "./result-texts.ts";
import { runInput } from "./run-input.ts";
import { asSubject, workflowAnswer } from "./workflow-answer.ts";

/** What guards look at. */
export interface GuardSubject {
  readonly target: GuardTarget;
  /** The texts, in the order in which redactions number them. */
  readonly texts: readonly string[];
  /** The arguments of a call, or an answer that is an object. Undefined: there are none. */
  readonly json?: JsonObject;
  /** Place of the whole answer of a subtask, of which the result has a part. Absent: there is none. */
  readonly wholeAt?: number | undefined;
  /** Whether it is an answer that ends its frame. */
  readonly isAnswer: boolean;
}

/** Returns what guards look at, at a point at which there are any. */
export function subjectAt(state: RunState, point: HookPoint): GuardSubject {
  const target = targetAt(point.phase) ?? "input";
  const frame = frameOf(state, point.frame);
  switch (target) {
    case "input": {
      const { created } = state.head;
      const atStart = created === undefined ? [] : runInput(created);
      const given = point.step === 0 ? atStart : newMessages(frame).map(asMessage);
      return { target, texts: textsOf(given), isAnswer: false };
    }
    case "output": {
      const answer = workflowAnswer(state, frame);
      return answer === undefined
        ? answerSubject(frame, frame.calls)
        : { target, ...asSubject(answer), isAnswer: true };
    }
    case "arguments": {
      const json = point.call && approvedCall(point.call).arguments;
      return { target, texts: [], ...(json && { json }), isAnswer: false };
    }
    case "result": {
      const { result } = point.call ?? {};
      const given = result === undefined ? { texts: [] } : resultTexts(frame, result);
      return { target, ...given, isAnswer: false };
    }
  }
}

/** Returns a turn as guards look at it. */
export function answerSubject(
  { text }: Pick<Frame, "text">,
  calls: readonly Pick<Call, "call">[],
): GuardSubject {
  const result = calls.find(({ call }) => call.name === finishSubtaskName);
  const json = result?.call.arguments;
  return {
    target: "output",
    texts: [text],
    ...(json && { json }),
    isAnswer: result !== undefined || calls.length === 0,
  };
}

/** Returns what a model is shown of a subject. */
export function shownText({ texts, json }: GuardSubject): string {
  return [...texts, ...(json === undefined ? [] : [JSON.stringify(json)])]
    .filter((text) => text !== "")
    .join("\n\n");
}

/** A text in a value. */
interface TextInside {
  readonly text: string;
  /** Whether it is a string, which can be replaced. */
  readonly isString: boolean;
}

/** Returns the texts in a value: strings, in the order of `mapStrings`, the names of fields, and numbers as text. */
export function textsIn(value: JsonValue): readonly TextInside[] {
  const found: TextInside[] = [];
  const visit = (each: JsonValue): void => {
    if (typeof each === "string") found.push({ text: each, isString: true });
    else if (typeof each === "number") found.push({ text: String(each), isString: false });
    else if (Array.isArray(each)) each.forEach(visit);
    else if (typeof each === "object" && each !== null) {
      for (const [name, inner] of Object.entries(each)) {
        found.push({ text: name, isString: false });
        visit(inner);
      }
    }
  };
  visit(value);
  return found;
}

/** Returns a value with each of its strings replaced by what `change` returns. */
export function mapStrings(value: JsonValue, change: (text: string) => string): JsonValue {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((each) => mapStrings(each, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, mapStrings(each, change)]),
  );
}

import type { JsonObject } from "@bufbuild/protobuf";
import { valueProblem } from "@reeve/agent/schema/value-problem";
import type { SchemaCheck } from "@reeve/agent/guardrails/guard";
import type { TextCheck } from "@reeve/agent/guardrails/text-check";
import { findIn } from "@reeve/agent/guardrails/text-check";
import { Work } from "@reeve/agent/guardrails/work";
import type { TextSpan } from "@reeve/agent/guardrails/text-span";
import type { GuardSubject } from "./guard-subject.ts";
import { textsIn } from "./guard-subject.ts";

/** What a check found. Undefined: nothing. */
export type Finding =
  | {
      readonly reason: string;
      /** For each text, what was found there. */
      readonly spans: readonly (readonly TextSpan[])[];
      /** For each string in the arguments or the record, what was found there. */
      readonly strings: readonly (readonly TextSpan[])[];
      /** Whether all of it is in texts and strings, which can be replaced. */
      readonly isReplaceable: boolean;
    }
  /** It could not check. */
  | { readonly problem: string }
  | undefined;

/**
 * Looks for texts in a subject: for all of them, or for the first if `isFirst`. Yields where other work may go on. All texts together
 * have the work of one check.
 */
export function* checkTexts(
  check: TextCheck,
  { texts, json }: GuardSubject,
  isFirst: boolean,
): Generator<void, Finding> {
  const work = new Work();
  const spans: (readonly TextSpan[])[] = [];
  const strings: (readonly TextSpan[])[] = [];
  const labels = new Set<string>();
  let isReplaceable = true;
  const places = [
    ...texts.map((text) => ({ text, found: spans })),
    ...(json === undefined ? [] : textsIn(json)).map(({ text, isString }) => ({
      text,
      found: isString ? strings : undefined,
    })),
  ];
  for (const { text, found } of places) {
    if (isFirst && labels.size > 0) break;
    const each = yield* findIn(check, text, work, isFirst);
    if (each.problem !== undefined) return { problem: each.problem };
    for (const { label } of each.spans) labels.add(label);
    if (found === undefined) isReplaceable &&= each.spans.length === 0;
    found?.push(each.spans);
  }
  const reason = `it contains ${[...labels].map(describe).join(", ")}`;
  return labels.size === 0 ? undefined : { reason, spans, strings, isReplaceable };
}

/** The text that was found is not repeated: it may be a secret. */
function describe(label: string): string {
  switch (label) {
    case "pattern":
      return "a text that matches one of its patterns";
    case "text":
      return "one of its texts";
    default:
      return `a text of the kind ${label}`;
  }
}

/** Checks the arguments of a call, or an answer, by a schema. A turn that is no answer passes. */
export function checkSchema({ schema }: SchemaCheck, subject: GuardSubject): Finding {
  if (subject.target === "output" && !subject.isAnswer) return undefined;
  const value = subject.json ?? parsed(subject.texts[0] ?? "");
  const reason = value === undefined ? "it is not JSON" : valueProblem(schema, value as JsonObject);
  return reason === undefined
    ? undefined
    : {
        reason: `it does not fit the schema: ${reason}`,
        spans: [],
        strings: [],
        isReplaceable: false,
      };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

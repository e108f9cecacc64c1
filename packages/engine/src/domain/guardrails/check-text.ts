import type { JsonObject } from "@bufbuild/protobuf";
import { valueProblem } from "@reeve/agent/schema/value-problem";
import type { SchemaCheck } from "@reeve/agent/guardrails/guard";
import type { TextCheck } from "@reeve/agent/guardrails/text-check";
import { findIn } from "@reeve/agent/guardrails/text-check";
import type { TextSpan } from "@reeve/agent/guardrails/text-span";
import type { GuardSubject } from "./guard-subject.ts";
import { visitTexts } from "./guard-subject.ts";

/** What a check found. Undefined: nothing. */
export type Finding =
  | {
      readonly reason: string;
      /** For each text, what was found there. */
      readonly spans: readonly (readonly TextSpan[])[];
      /** Whether all of it is in texts and strings, which can be replaced. */
      readonly isReplaceable: boolean;
    }
  /** It could not check. */
  | { readonly problem: string }
  | undefined;

/** Looks for texts in a subject. */
export function checkTexts(check: TextCheck, { texts, json }: GuardSubject): Finding {
  const spans: (readonly TextSpan[])[] = [];
  const labels = new Set<string>();
  for (const text of texts) {
    const found = findIn(check, text);
    if (found.problem !== undefined) return { problem: found.problem };
    for (const { label } of found.spans) labels.add(label);
    spans.push(found.spans);
  }
  let isReplaceable = true;
  let problem: string | undefined;
  if (json !== undefined) {
    visitTexts(json, (text, isString) => {
      if (problem !== undefined) return;
      const found = findIn(check, text);
      problem = found.problem;
      for (const { label } of found.spans ?? []) {
        labels.add(label);
        isReplaceable &&= isString;
      }
    });
  }
  if (problem !== undefined) return { problem };
  return labels.size === 0
    ? undefined
    : { reason: `it contains ${[...labels].map(describe).join(", ")}`, spans, isReplaceable };
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
    : { reason: `it does not fit the schema: ${reason}`, spans: [], isReplaceable: false };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

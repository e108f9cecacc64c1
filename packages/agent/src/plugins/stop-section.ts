import type { AgentSpec } from "@reeve/contracts/agent";
import { z } from "zod";
import type { TextMatcher } from "../permission/permission-rule.ts";
import { regexMatcher } from "../permission/text-matchers.ts";
import { sectionOf } from "./section-violations.ts";

/** The section that says when a run or a subtask stops although its model would continue. */
export const stopSectionName = "stop";

/** A regular expression, with the text that was parsed. */
const pattern = z.string("must be a text").transform((text, context): ContentPattern => {
  if (text === "" || text.length > maxPatternCharacters) {
    context.addIssue(`must have 1 to ${maxPatternCharacters} characters`);
    return z.NEVER;
  }
  const { matcher, problem } = regexMatcher(text);
  if (matcher !== undefined) return { text, matcher };
  context.addIssue(problem);
  return z.NEVER;
});

interface ContentPattern {
  readonly text: string;
  readonly matcher: TextMatcher;
}

const maxPatternCharacters = 200;

const count = (min: number) =>
  z
    .int("must be an integer")
    .min(min, `must be ${min} or more`)
    .max(100, "must be 100 or less")
    .optional();

export const stopSchema = z.strictObject({
  tools: z.array(z.string("must be a text").min(1)).max(100, "has more than 100 tools").default([]),
  content: z.array(pattern).max(8, "has more than 8 expressions").default([]),
  consecutive_errors: count(1),
  repeated_turns: count(2),
});

/** When a run or a subtask stops after a turn with calls, before any of them is executed. */
export type StopConditions = z.infer<typeof stopSchema>;

const ofSections = new WeakMap<object, StopConditions>();

/** Returns the stop conditions of an agent. Undefined: it has none. */
export function stopConditionsOf(
  spec: Pick<AgentSpec, "sections"> | undefined,
): StopConditions | undefined {
  const value = spec?.sections[stopSectionName];
  if (spec === undefined || value === undefined) return undefined;
  const known = ofSections.get(value);
  if (known !== undefined) return known;
  // A run is not prepared with a section that does not fit.
  const parsed = stopSchema.safeParse(sectionOf(spec, stopSectionName));
  if (!parsed.success) return undefined;
  ofSections.set(value, parsed.data);
  return parsed.data;
}

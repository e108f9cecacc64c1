import { z } from "zod";
import { closestName } from "../text/closest-name.ts";
import { parseRule } from "./parse-rule.ts";
import type { CallPattern } from "./permission-rule.ts";
import { behaviors } from "./permission-rule.ts";

/** How many permission rules one section may have. */
const maxPermissionRules = 1_000;

const behaviorName = z.enum(["ask", "allow", "deny"], {
  error: ({ input }) => {
    const closest = typeof input === "string" ? closestName(input, Object.keys(behaviors)) : "";
    return `must be ask, allow, or deny${closest ? `; did you mean ${closest}?` : ""}`;
  },
});

const behavior = behaviorName.transform((name) => behaviors[name]);

/** The calls that a rule matches, with the text that was parsed. */
const callPattern = z.string("must be a text").transform((text, context): ParsedText => {
  const { pattern, problem } = parseRule(text);
  if (pattern !== undefined) return { text, pattern };
  context.addIssue(`"${text.slice(0, 200)}" ${problem}`);
  return z.NEVER;
});

interface ParsedText {
  readonly text: string;
  readonly pattern: CallPattern;
}

/** The permission rules of an agent, or of a rule of the operator's policy. */
export const permissionSchema = z.strictObject({
  default_behavior: behavior.optional(),
  rules: z
    .array(z.strictObject({ tool: callPattern, behavior }))
    .max(maxPermissionRules, `has more than ${maxPermissionRules} rules`)
    .default([]),
});

export type PermissionSection = z.infer<typeof permissionSchema>;

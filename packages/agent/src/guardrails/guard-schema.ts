import type { JsonObject } from "@bufbuild/protobuf";
import { z } from "zod";
import type { LinearExpression } from "../permission/text-matchers.ts";
import { linearExpression } from "../permission/text-matchers.ts";
import { schemaProblem } from "../schema/schema-problem.ts";
import { parseNamePattern } from "../tools/name-pattern.ts";
import { detectors } from "./detectors.ts";
import type { Guard, GuardAction, GuardTarget } from "./guard.ts";

const maxExpressions = 16;
const maxLiterals = 100;
const maxExpressionCharacters = 500;
const maxSchemaBytes = 16_384;

const text = (max: number) =>
  z.string("must be a text").min(1, "is empty").max(max, `has more than ${max} characters`);

const toolPattern = text(255).transform((given, context) => {
  const pattern = parseNamePattern(given);
  if (pattern !== undefined) return pattern;
  context.addIssue("ends with an escape character");
  return z.NEVER;
});

const jsonSchema = z
  .record(z.string(), z.unknown(), "must be a JSON Schema")
  .transform((given, context) => {
    // Sections are JSON. The schema of files must have no reference to a recursive type.
    const schema = given as JsonObject;
    const isLarge = JSON.stringify(schema).length > maxSchemaBytes;
    const problem = isLarge ? `has more than ${maxSchemaBytes} characters` : schemaProblem(schema);
    if (problem === undefined) return schema;
    context.addIssue(`is not a JSON Schema that can be checked: ${problem}`);
    return z.NEVER;
  });

const modelCheck = z.strictObject({
  id: text(255).optional(),
  policy: text(8_192),
  on_failure: z.enum(["trip", "allow"], "must be trip or allow").default("trip"),
});

const fields = {
  name: z
    .string("must be a text")
    .regex(
      /^[a-z0-9][a-z0-9._-]{0,62}$/,
      "must have 1 to 63 of the characters a-z, 0-9, and . _ -",
    ),
  patterns: z
    .array(text(maxExpressionCharacters))
    .min(1, "is empty")
    .max(maxExpressions, `has more than ${maxExpressions} expressions`)
    .optional(),
  literals: z
    .array(text(1_000))
    .min(1, "is empty")
    .max(maxLiterals, `has more than ${maxLiterals} texts`)
    .optional(),
  detect: z
    .array(z.enum(detectors, `must be one of ${detectors.join(", ")}`))
    .min(1, "is empty")
    .optional(),
  ignore_case: z.boolean("must be true or false").default(false),
  schema: jsonSchema.optional(),
  model: modelCheck.optional(),
  action: z.enum(["stop", "refuse", "redact", "ask"], "must be stop, refuse, redact, or ask"),
  reason: text(500).default(""),
};

/** A guard of messages, as it is written. */
export const messageGuard = z.strictObject(fields);
/** A guard of tools, as it is written. */
export const toolGuard = z.strictObject({
  ...fields,
  tools: z.array(toolPattern).min(1, "is empty").max(100, "has more than 100 patterns").optional(),
  on: z.enum(["arguments", "result", "both"], "must be arguments, result, or both").optional(),
});

/** A guard as it is written. */
export type GivenGuard = z.infer<typeof messageGuard> &
  Partial<Pick<z.infer<typeof toolGuard>, "tools" | "on">>;

/** The lists of a section. */
export const guardPlaces = ["input", "output", "tools"] as const;

type Place = (typeof guardPlaces)[number];

/** Reports what is wrong with a guard at a path within it. */
export type Report = (path: string, problem: string) => void;

/** Returns a guard. Undefined: something is wrong with it, which was reported. */
export function guardOf(
  given: GivenGuard,
  of: Place,
  index: number,
  report: Report,
): Guard | undefined {
  let isBroken = false;
  const refuse: Report = (path, problem) => {
    isBroken = true;
    report(path, problem);
  };
  const check = checkOf(given, refuse);
  const targets = targetsOf(given, of);
  const { action, name, reason, tools } = given;
  const problem = actionProblem(action, { kind: check?.kind, targets });
  if (problem !== undefined) refuse("action", problem);
  if (check?.kind === "schema" && targets.some((each) => each === "input" || each === "result")) {
    refuse("schema", "checks arguments of tools and answers only");
  }
  if (isBroken || check === undefined) return undefined;
  return { name, field: `${of}[${index}]`, action, check, reason, targets, tools };
}

function targetsOf({ action, schema, on }: GivenGuard, of: Place): readonly GuardTarget[] {
  if (of !== "tools") return [of];
  const both = action === "ask" || schema !== undefined ? "arguments" : "both";
  const where = on ?? both;
  return where === "both" ? ["arguments", "result"] : [where];
}

function checkOf(given: GivenGuard, refuse: Report): Guard["check"] | undefined {
  const { patterns, literals, detect, ignore_case: ignoresCase, schema, model } = given;
  const hasText = [patterns, literals, detect].some((each) => each !== undefined);
  const kinds = [hasText, schema !== undefined, model !== undefined].filter(Boolean).length;
  if (kinds !== 1) {
    refuse(
      "",
      "needs one kind of check: texts by patterns, literals, and detect; or schema; or model",
    );
    return undefined;
  }
  if (schema !== undefined) return { kind: "schema", schema };
  if (model !== undefined) {
    const { id, policy, on_failure: onFailure } = model;
    return { kind: "model", model: id, policy, allowsFailure: onFailure === "allow" };
  }
  const expressions = (patterns ?? []).flatMap((source, index): readonly LinearExpression[] => {
    const { expression, problem } = linearExpression(source, ignoresCase ? "i" : "");
    if (expression === undefined) refuse(`patterns.${index}`, problem);
    else if (expression.matches(""))
      refuse(`patterns.${index}`, "matches the empty text, so it matches every text");
    else return [expression];
    return [];
  });
  return {
    kind: "text",
    expressions,
    literals: literals ?? [],
    detectors: detect ?? [],
    ignoresCase,
  };
}

function actionProblem(
  action: GuardAction,
  {
    kind,
    targets,
  }: { readonly kind: string | undefined; readonly targets: readonly GuardTarget[] },
): string | undefined {
  if (action === "redact" && kind !== undefined && kind !== "text") {
    return "redact is possible for patterns, literals, and detect only";
  }
  if (action === "ask" && targets.some((each) => each !== "arguments")) {
    return "ask is possible for arguments of tools only";
  }
  return action === "refuse" && targets.includes("input")
    ? "refuse is possible for answers and tools only; use stop or redact"
    : undefined;
}

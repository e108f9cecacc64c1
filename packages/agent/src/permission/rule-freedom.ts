import type { JsonObject } from "@bufbuild/protobuf";
import { freeArguments } from "./free-arguments.ts";
import { parseRule } from "./parse-rule.ts";
import type { ArgumentCondition } from "./permission-rule.ts";

/** What a rule leaves free of a call that it matches. */
export type RuleFreedom =
  /** The rule cannot be read. */
  | { readonly kind: "unreadable"; readonly problem: string }
  /** Every argument. */
  | { readonly kind: "all" }
  /** Every argument except the primary one, and that one in part unless `isExact`. */
  | { readonly kind: "all but primary"; readonly isExact: boolean }
  /** `names` as a whole, `inPart` within a pattern or but for a part of the value, and what the call leaves out if `hasOthers`. */
  | {
      readonly kind: "some";
      readonly names: readonly string[];
      readonly inPart: readonly string[];
      readonly hasOthers: boolean;
    };

/** Returns what a rule leaves free of calls with these arguments. Without a schema, arguments that the call leaves out are free. */
export function freedomOf(
  rule: string,
  args: JsonObject,
  inputSchema: JsonObject | undefined,
): RuleFreedom {
  const { pattern, problem } = parseRule(rule);
  if (pattern === undefined) return { kind: "unreadable", problem };
  const { conditions } = pattern;
  if (conditions.length === 0) return { kind: "all" };
  const primary = conditions.find(({ path }) => path === undefined);
  if (primary !== undefined) return { kind: "all but primary", isExact: primary.isExact };
  const bound = namesOf(conditions.filter(({ path, isExact }) => isExact && path?.length === 1));
  const named = namesOf(conditions);
  const { names, hasOthers } = freeArguments(inputSchema, {});
  const known = [...new Set([...Object.keys(args), ...names, ...named])];
  return {
    kind: "some",
    names: known.filter((name) => !named.has(name)),
    inPart: known.filter((name) => named.has(name) && !bound.has(name)),
    hasOthers,
  };
}

/** Returns the names of the arguments that conditions are about. */
function namesOf(conditions: readonly ArgumentCondition[]): ReadonlySet<string> {
  return new Set(
    conditions.flatMap(({ path: [first] = [] }) => (first?.kind === "member" ? [first.name] : [])),
  );
}

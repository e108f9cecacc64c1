import type { JsonObject } from "@bufbuild/protobuf";
import { freeArguments } from "./free-arguments.ts";
import { parseRule } from "./parse-rule.ts";

/** What a rule leaves free of a call that it matches. */
export type RuleFreedom =
  /** The rule cannot be read. */
  | { readonly kind: "unreadable"; readonly problem: string }
  /** Every argument. */
  | { readonly kind: "all" }
  /** Every argument except the primary one. */
  | { readonly kind: "all but primary" }
  /** The arguments that are named, and any that the call leaves out if `hasOthers`. */
  | { readonly kind: "some"; readonly names: readonly string[]; readonly hasOthers: boolean };

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
  if (conditions.some(({ path }) => path === undefined)) return { kind: "all but primary" };
  const bound = new Set(
    conditions.map(({ path: [first] = [] }) => (first?.kind === "member" ? first.name : undefined)),
  );
  const { names, hasOthers } = freeArguments(inputSchema, {});
  const known = new Set([...Object.keys(args), ...names]);
  return { kind: "some", names: [...known].filter((name) => !bound.has(name)), hasOthers };
}

import type { JsonObject } from "@bufbuild/protobuf";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decide, toolNamed } from "../../test/permissions.ts";
import { exactRule } from "./exact-rule.ts";
import { ruleLevel } from "./rule-level.ts";

function allows(rule: string | undefined, args: JsonObject): boolean {
  const { level } = ruleLevel(rule ?? "", "allow");
  return level !== undefined && decide(level, toolNamed("pay"), args) !== undefined;
}

describe("the exact rule of a call", () => {
  test("names each argument with its value", () => {
    expect(exactRule("pay", { to: 'b"o\\b', amount: 2, tags: ["a b", "c"] })).toBe(
      'pay(to = "b\\"o\\\\b", amount = "2", tags = "\\"a b\\" c")',
    );
    expect(exactRule("pay", {})).toBe("pay");
  });

  test("does not exist if it would be too long, or no rule", () => {
    expect(exactRule("pay", { to: "b".repeat(2_000) })).toBeUndefined();
    expect(exactRule("pay", { " ": "b" })).toBeUndefined();
  });

  test("matches the call, and none with another value", () => {
    const name = fc.string({ minLength: 1, maxLength: 8 }).filter((each) => each !== "__proto__");
    const value = fc.oneof(
      fc.string({ maxLength: 20 }),
      fc.integer(),
      fc.boolean(),
      fc.array(fc.string({ maxLength: 5 }), { maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.dictionary(name, value, { minKeys: 1, maxKeys: 4 }), (args) => {
        const rule = exactRule("pay", args);
        expect(rule === undefined || allows(rule, args)).toBe(true);
        const [first = ""] = Object.keys(args);
        const others = { ...args, [first]: "something entirely else" };
        expect(rule !== undefined && allows(rule, others)).toBe(false);
      }),
    );
  });
});

import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { check } from "../../test/check.ts";
import { offer } from "../../test/offer.ts";
import { specOf, under } from "../../test/policies.ts";
import { unrestricted } from "../policy/caller-policy.ts";
import { policySchema } from "../policy/policy-schema.ts";
import { resolveAgent } from "../resolve/resolve-agent.ts";
import { guardListOf } from "./guardrails-section.ts";

const sections = (guardrails: JsonValue) => ({
  sections: { guardrails: fromJson(ValueSchema, guardrails) },
});
const problems = (guardrails: JsonValue) =>
  check(sections(guardrails)).violations.map(
    ({ field, description }) => `${field}: ${description}`,
  );
const guard = { name: "g", action: "stop" };

// Requirement: RES-13
describe("the section of guards", () => {
  test("adds the plugin guardrails, with a digest of the section", () => {
    const spec = specOf(sections({ input: [{ ...guard, detect: ["email"] }] }));
    const { plan } = resolveAgent(spec, offer, under(unrestricted));
    expect(plan.plugins.find(({ id }) => id === "guardrails")).toMatchObject({
      origin: "builtin",
      addedBy: "sections.guardrails",
      sections: ["guardrails"],
    });
    expect(check(sections({ input: [{ ...guard, detect: ["email"] }] })).details).toEqual([]);
  });

  test.each<[string, JsonObject, string]>([
    ["no guards", {}, "sections.guardrails: has no guards"],
    [
      "an unknown field",
      { inputs: [], input: [{ ...guard, literals: ["a"] }] },
      "sections.guardrails.inputs: unknown field",
    ],
    ["a guard without a check", { input: [guard] }, "input[0]: needs one kind of check"],
    [
      "two kinds of checks",
      { output: [{ ...guard, literals: ["a"], schema: {} }] },
      "output[0]: needs one kind of check",
    ],
    [
      "an expression that only backtracking can match",
      { input: [{ ...guard, patterns: ["(a)\\1"] }] },
      "input[0].patterns[0]: /(a)\\1/ is not a regular expression that can be matched in linear time",
    ],
    [
      "an expression that matches everything",
      { input: [{ ...guard, patterns: ["a*"] }] },
      "input[0].patterns[0]: matches the empty text",
    ],
    [
      "an unknown kind",
      { input: [{ ...guard, detect: ["dna"] }] },
      "input[0].detect[0]: must be one of",
    ],
    [
      "an unknown model",
      { input: [{ ...guard, model: { id: "judge", policy: "p" } }] },
      'input[0].model.id: model "judge" does not exist',
    ],
    [
      "a refusal of input",
      { input: [{ ...guard, literals: ["a"], action: "refuse" }] },
      "input[0].action: refuse is possible for answers and tools only",
    ],
    [
      "a redaction by a model",
      { input: [{ ...guard, model: { policy: "p" }, action: "redact" }] },
      "input[0].action: redact is possible for patterns",
    ],
    [
      "an answer that is redacted after it was shown",
      { output: [{ ...guard, literals: ["a"], action: "redact" }] },
      "output[0].action: redact needs hold: true",
    ],
    [
      "a question about a result",
      { tools: [{ ...guard, literals: ["a"], action: "ask", on: "both" }] },
      "tools[0].action: ask is possible for arguments of tools only",
    ],
    [
      "a name twice",
      { input: [{ ...guard, literals: ["a"] }], tools: [{ ...guard, literals: ["b"] }] },
      'tools[0].name: "g" is the name of an earlier guard',
    ],
    [
      "a schema that is none",
      { tools: [{ ...guard, schema: { type: "thing" } }] },
      "tools[0].schema: is not a JSON Schema",
    ],
  ])("is refused with its path: %s", (_, section, expected) => {
    expect(problems(section)).toEqual([expect.stringContaining(expected)]);
  });

  test("has all its problems reported at once", () => {
    const section = {
      input: [
        { ...guard, patterns: ["("] },
        { name: "h", model: { id: "judge", policy: "p" }, action: "stop" },
      ],
      output: [{ name: "i", literals: ["a"], action: "redact" }],
    };
    expect(problems(section).map((each) => each.replace(/: .*/s, ""))).toEqual([
      "sections.guardrails.input[0].patterns[0]",
      "sections.guardrails.output[0].action",
      "sections.guardrails.input[1].model.id",
    ]);
  });

  test("of a rule of the operator's policy is checked with its path", () => {
    const rules = [{ name: "r", guardrails: { input: [{ ...guard, patterns: ["("] }] } }];
    const issues = policySchema.safeParse({ rules }).error?.issues ?? [];
    expect(issues.map(({ path }) => path.join("."))).toEqual([
      "rules.0.guardrails.input.0.patterns.0",
    ]);
  });

  test("looks at arguments alone if it asks or has a schema, and otherwise at results too", () => {
    const tools = [
      { name: "a", literals: ["x"], action: "stop" },
      { name: "b", literals: ["x"], action: "ask" },
      { name: "c", schema: {}, action: "refuse" },
    ];
    const list = guardListOf({ tools });
    expect(list?.guards.map(({ targets }) => targets.join())).toEqual([
      "arguments,result",
      "arguments",
      "arguments",
    ]);
  });
});

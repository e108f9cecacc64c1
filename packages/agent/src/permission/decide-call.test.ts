import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { PolicyPermissionSchema } from "@reeve/contracts/run";
import { PermissionBehavior, ToolDescriptorSchema } from "@reeve/contracts/tool";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RuleLine } from "../../test/permissions.ts";
import { decide, levelOf, lineOf, toolNamed } from "../../test/permissions.ts";
import { decideCall, deniesTool } from "./decide-call.ts";
import type { PermissionLevel } from "./permission-levels.ts";
import { agentLevel, policyLevel } from "./permission-levels.ts";

const run = toolNamed("run_command", "command");
const write = toolNamed("write_file", "path", "content");
const { ASK, ALLOW, DENY } = PermissionBehavior;

describe("the rules of one level", () => {
  // Requirement: RES-10
  test("deny overrides allow, which overrides ask, in any order", () => {
    const rules: RuleLine[] = ["ask *", "allow run_command(git *)", "deny run_command(*--force*)"];
    for (const order of [rules, rules.toReversed()]) {
      const level = levelOf("deny", ...order);
      expect(decide(level, run, { command: "git push --force" })).toBe(
        "deny run_command(*--force*)",
      );
      expect(decide(level, run, { command: "git push" })).toBe("allow run_command(git *)");
      expect(decide(level, run, { command: "ls" })).toBe("ask *");
    }
  });

  test.each([
    [undefined, "ask"],
    ["ask", "ask"],
    ["allow", "allow"],
    ["deny", "deny"],
  ])("without a match the default %s decides", (given, behavior) => {
    const level = levelOf(given, "deny other");
    expect(decide(level, run, {})).toBe(`${behavior} default_behavior`);
  });

  test("the default says nothing about a tool of the runtime, a rule does", () => {
    const todo = create(ToolDescriptorSchema, { name: "add_todo", source: "runtime" });
    expect(decide(levelOf("deny"), todo, {})).toBeUndefined();
    expect(decide(levelOf("allow", "ask add_*"), todo, {})).toBe("ask add_*");
  });

  const conditions: readonly (readonly [string, JsonObject, boolean])[] = [
    ['write_file(path ~ "out/*")', { path: "out/a/b" }, true],
    ['write_file(path ~ "out/*")', { path: "other" }, false],
    ['write_file(path = "a*")', { path: "a*" }, true],
    ['write_file(path = "a*")', { path: "ab" }, false],
    ["write_file(content =~ /^a.c$/)", { content: "abc" }, true],
    ["write_file(content =~ /A/i)", { content: "bab" }, true],
    ['write_file(path !~ "out/*")', { path: "etc" }, true],
    ['write_file(path !~ "out/*")', { path: "out/x" }, false],
    ['write_file(path != "a")', { path: "a" }, false],
    ["write_file(path !=~ /a/)", { path: "b" }, true],
    ['write_file(mode.bits = "7")', { mode: { bits: 7 } }, true],
    ['write_file(mode = "{\\"a\\":true,\\"b\\":null}")', { mode: { b: null, a: true } }, true],
    ['write_file(path ~ "out/*", content = "x")', { path: "out/a", content: "y" }, false],
    ['write_file(argv = "git \\"a b\\" c")', { argv: ["git", "a b", "c"] }, true],
    ['write_file(argv ~ "git *")', { argv: ["git push", "x"] }, false],
    ["write_file(out/*)", { path: "out/a", content: "y" }, true],
  ];
  test.each(conditions)("%s of %j matches: %s", (rule, args, matches) => {
    for (const behavior of ["allow", "deny"] as const) {
      const level = levelOf("ask", `${behavior} ${rule}`);
      expect(decide(level, write, args)).toBe(
        matches ? `${behavior} ${rule}` : "ask default_behavior",
      );
    }
  });

  test("one value is enough to deny, and all must fit to allow", () => {
    const args = { files: [{ path: "out/a" }, { path: "etc/b" }] };
    const rule = 'write_file(files[*].path ~ "out/*")';
    expect(decide(levelOf("ask", `deny ${rule}`), write, args)).toBe(`deny ${rule}`);
    expect(decide(levelOf("ask", `allow ${rule}`), write, args)).toBe("ask default_behavior");
    const negated = 'write_file(files[*].path !~ "out/*")';
    expect(decide(levelOf("ask", `deny ${negated}`), write, args)).toBe(`deny ${negated}`);
  });

  test("leaving an argument out avoids no rule that denies what is not listed", () => {
    const rule = 'write_file(path !~ "out/*")';
    expect(decide(levelOf("allow", `deny ${rule}`), write, {})).toBe(`deny ${rule}`);
    expect(decide(levelOf("ask", `allow ${rule}`), write, {})).toBe("ask default_behavior");
  });

  test("a glob for a tool without a primary argument denies and asks, but does not allow", () => {
    const many = toolNamed("many");
    expect(decide(levelOf("ask", "allow many(x)"), many, { a: "x" })).toBe("ask default_behavior");
    expect(decide(levelOf("allow", "deny many(x)"), many, { a: "y" })).toBe("deny many(x)");
  });

  test("another spelling of a path avoids no rule", () => {
    const read = create(ToolDescriptorSchema, {
      ...toolNamed("read", "path"),
      pathArguments: ["path"],
    });
    const denies = levelOf("allow", "deny read(secrets/*)");
    const allows = levelOf("ask", "allow read(out/*)");
    for (const path of ["secrets/a", "./secrets/a", "x/../secrets/a", "/workspace/secrets/a"]) {
      expect(decide(denies, read, { path })).toBe("deny read(secrets/*)");
    }
    expect(decide(allows, read, { path: "out/../secrets/a" })).toBe("ask default_behavior");
    expect(decide(allows, read, { path: "out/a" })).toBe("allow read(out/*)");
  });

  test("arguments that are too large to be checked are denied, soon", () => {
    const rules = Array.from(
      { length: 200 },
      (_, index): RuleLine => `allow run_command(*${index}*x*)`,
    );
    const level = levelOf("allow", ...rules);
    expect(decide(level, run, { command: "0123456789".repeat(100_000) })).toMatch(/^deny run_com/);
  });
});

/** Returns the level of a policy with one permission rule. */
const permissions = (text: string, behavior: PermissionBehavior) =>
  policyLevel([
    create(PolicyPermissionSchema, { policyRule: "base", rules: [{ tool: text, behavior }] }),
  ]) ?? levelOf("deny");

/** What the rules of the property match. */
const matches = (rule: string, command: string) =>
  rule === "*" ||
  rule === "run_*" ||
  (rule === "run_command(a*)" && command.startsWith("a")) ||
  (rule === "run_command(*b)" && command.endsWith("b"));

/** Returns whose rules ask for a decision about a call. */
const sources = (...levels: readonly PermissionLevel[]) =>
  decideCall(levels, { tool: run, args: {} })?.askingSources;

describe("several levels", () => {
  // Requirement: RES-10
  test("the strictest decides: an agent cannot allow what the operator asks for or denies", () => {
    const allows = levelOf("allow", "allow run_command");
    expect(decide([allows, permissions("*", ASK)], run, {})).toBe("ask *");
    expect(decide([allows, permissions("*", DENY)], run, {})).toBe("deny *");
    expect(decide([levelOf("ask"), permissions("*", ALLOW)], run, {})).toBe("ask default_behavior");
  });

  test("that ask are named each, and none that allows", () => {
    const asks = levelOf("ask");
    const allows = levelOf("allow", "allow run_command");
    expect(sources(asks, permissions("*", ASK))).toEqual(["agent", "policy"]);
    expect(sources(asks, permissions("*", ALLOW))).toEqual(["agent"]);
    expect(sources(allows, permissions("*", ASK))).toEqual(["policy"]);
    expect(sources(asks, permissions("*", DENY))).toEqual([]);
    expect(sources(allows)).toEqual([]);
  });

  test("are decided as by a plain reading of the rules", () => {
    const behavior = fc.constantFrom("ask" as const, "allow" as const, "deny" as const);
    const text = fc.constantFrom("*", "run_*", "write_file", "run_command(a*)", "run_command(*b)");
    const rules = fc.array(fc.record({ behavior, text }), { maxLength: 6 });
    const level = fc.record({ given: behavior, rules });
    fc.assert(
      fc.property(
        fc.array(level, { minLength: 1, maxLength: 3 }),
        fc.constantFrom("ab", "a", "b", "c"),
        (given, command) => {
          const expected = given.map((each) => {
            const found = each.rules.filter((rule) => matches(rule.text, command));
            return (
              (["deny", "allow", "ask"] as const).find((name) =>
                found.some((rule) => rule.behavior === name),
              ) ?? each.given
            );
          });
          const strictest = (["deny", "ask", "allow"] as const).find((name) =>
            expected.includes(name),
          );
          const levels = given.map((each) =>
            levelOf(
              each.given,
              ...each.rules.map((rule): RuleLine => `${rule.behavior} ${rule.text}`),
            ),
          );
          expect(decide(levels, run, { command })?.split(" ")[0]).toBe(strictest);
        },
      ),
    );
  });
});

describe("rules that cannot be read", () => {
  test("of an agent deny every call", () => {
    const sections = {
      permission: { kind: { case: "stringValue" as const, value: "deny all" } },
    };
    const level = agentLevel(create(AgentSpecSchema, { sections }));
    expect(level && decide(level, run, {})).toBe("deny unreadable rules");
  });

  test("of a newer version of the policy deny every call", () => {
    const rules = [{ tool: "run_command ~~ new", behavior: DENY }];
    const level = policyLevel([create(PolicyPermissionSchema, { policyRule: "p", rules })]);
    expect(level && decide(level, write, {})).toBe("deny unreadable rules");
  });
});

describe("a tool", () => {
  // Requirement: RES-10
  test.each<readonly [readonly RuleLine[], string, string | undefined]>([
    [["deny run_*"], "allow", "deny run_*"],
    [["deny run_command(*)"], "allow", "deny run_command(*)"],
    [["deny run_command", "allow run_command(git *)"], "allow", "deny run_command"],
    [["deny run_command(rm *)"], "allow", undefined],
    [[], "deny", "deny default_behavior"],
    [["allow run_command(git *)"], "deny", undefined],
    [["ask run_command"], "deny", undefined],
    [["deny run_command(rm *)"], "deny", "deny default_behavior"],
  ])("with the rules %j and the default %s is denied by %s", (rules, given, expected) => {
    expect(lineOf(deniesTool([levelOf(given, ...rules)], run))).toBe(expected);
  });

  test("that is hidden has no call that would be executed", () => {
    const text = fc.constantFrom(
      "*",
      "run_command",
      "run_command(a*)",
      'run_command(command != "a")',
    );
    const line = fc
      .tuple(fc.constantFrom("ask", "allow", "deny"), text)
      .map(([behavior, rule]) => `${behavior} ${rule}` as RuleLine);
    fc.assert(
      fc.property(
        fc.constantFrom("ask", "allow", "deny"),
        fc.array(line, { maxLength: 5 }),
        fc.constantFrom("a", "ab", "c"),
        (given, lines, command) => {
          const level = levelOf(given, ...lines);
          if (deniesTool([level], run) === undefined) return;
          expect(decide(level, run, { command })).toMatch(/^deny /);
        },
      ),
    );
  });
});

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { maxRuleCharacters, parseRule } from "./parse-rule.ts";

describe("a permission rule", () => {
  // Requirement: RES-10
  test.each([
    ["run_command", 0],
    ["mcp__github__*", 0],
    ["*", 0],
    ["/^mcp__(github|gitlab)__/", 0],
    ["read_file(*)", 0],
    ["run_command(git status *)", 1],
    ['run_command(git log --format="%h")', 1],
    ['write_file(path ~ "out/*")', 1],
    ['write_file(path = "a, b")', 1],
    ["run_command(command =~ /rm\\s+-rf/i)", 1],
    ['run_command(command =~ "^git")', 1],
    ['send(to[*].address !~ "*@example.org", subject != "x", body !=~ /secret/)', 3],
    ['send("odd name".*[0].x = "\\"quoted\\"")', 1],
    [' write_file ( path ~ "out/*" ) ', 1],
  ])("%s is parsed", (text, conditions) => {
    const { pattern, problem } = parseRule(text);
    expect(problem).toBeUndefined();
    expect(pattern?.conditions).toHaveLength(conditions);
  });

  test.each([
    ["", "the name of a tool"],
    ["read file", '"("'],
    ["read_file()", "nothing in parentheses"],
    ["read_file(a", 'does not end with ")"'],
    ["read_file(a) b", 'does not end with ")"'],
    ['read_file(path ~ "a)', "no closing"],
    ['read_file(path ~ "")', "a pattern is empty"],
    ['read_file(path ~ "a\\\\" b)', '","'],
    ["read_file(path ~ /a/)", "in double quotes"],
    ['read_file(path[x] = "a")', "an index"],
    ['read_file(path..x = "a")', "the name of an argument"],
    ["read_file(path =~ /(a/)", "linear time"],
    ["read_file(path =~ /(?=a)/)", "linear time"],
    ["read_file(path =~ /(a)\\1/)", "linear time"],
    ["read_file(path =~ /a/g)", 'the flag "g"'],
    ["read_file(path =~ //)", "empty regular expression"],
    ["read_file(path =~ /a{1000}b{1000}/)", "too large"],
    ["/(/", "linear time"],
    ["x".repeat(maxRuleCharacters + 1), "more than"],
    [`a(${Array.from({ length: 21 }, () => 'b="c"').join()})`, "more than 20 conditions"],
  ])("%s is refused", (text, problem) => {
    expect(parseRule(text).problem).toContain(problem);
  });

  test("of any text is parsed or refused, and never throws", () => {
    const piece = fc.constantFrom(..."ab*\\\"/()[].,!=~ {}'".split(""), "=~", "!~", 'a="b"');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const { pattern, problem } = parseRule(pieces.join(""));
        expect(pattern === undefined).toBe(problem !== undefined);
      }),
    );
  });
});

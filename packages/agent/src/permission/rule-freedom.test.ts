import { expect, test } from "vitest";
import { freedomOf } from "./rule-freedom.ts";

const schema = {
  type: "object",
  properties: { to: {}, text: {}, copy: {} },
  additionalProperties: false,
} as const;

const free = (rule: string) => freedomOf(rule, { to: "ann", text: "hello" }, schema);

test("a rule says what it leaves free of a call", () => {
  expect(free("send")).toEqual({ kind: "all" });
  expect(free("send(ann)")).toEqual({ kind: "all but primary", isExact: true });
  expect(free("send(a*)")).toEqual({ kind: "all but primary", isExact: false });
  expect(free('send(to = "ann")')).toEqual({
    kind: "some",
    names: ["text", "copy"],
    inPart: [],
    hasOthers: false,
  });
  expect(free("send(")).toMatchObject({ kind: "unreadable" });
});

test("without a schema, a rule leaves free what the call leaves out", () => {
  const freed = freedomOf('send(to = "ann")', { to: "ann" }, undefined);
  expect(freed).toEqual({ kind: "some", names: [], inPart: [], hasOthers: true });
});

test("a pattern, an exclusion, and a condition on a part leave an argument free in part", () => {
  const rules = [
    'send(to ~ "*", text = "hello", copy = "")',
    'send(to != "bob", text = "hello", copy = "")',
    'send(to =~ /a/, text = "hello", copy = "")',
    'send(to.name = "ann", text = "hello", copy = "")',
  ];
  for (const rule of rules) {
    expect(free(rule)).toEqual({ kind: "some", names: [], inPart: ["to"], hasOthers: false });
  }
  const exact = 'send(to ~ "a*", to = "ann", text = "hello", copy = "")';
  expect(free(exact)).toMatchObject({ names: [], inPart: [] });
});

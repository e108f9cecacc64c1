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
  expect(free("send(ann)")).toEqual({ kind: "all but primary" });
  expect(free('send(to = "ann")')).toEqual({
    kind: "some",
    names: ["text", "copy"],
    hasOthers: false,
  });
  expect(free("send(")).toMatchObject({ kind: "unreadable" });
});

test("without a schema, a rule leaves free what the call leaves out", () => {
  const freed = freedomOf('send(to = "ann")', { to: "ann" }, undefined);
  expect(freed).toEqual({ kind: "some", names: [], hasOthers: true });
});

import { create } from "@bufbuild/protobuf";
import type { JsonObject } from "@bufbuild/protobuf";
import { ApprovalSchema } from "@reeve/contracts/approval";
import { expect, test } from "vitest";
import { skim } from "./skim.ts";

const calling = (args: JsonObject) => create(ApprovalSchema, { call: { arguments: args } });

test("short arguments are whole, and have no mark", () => {
  expect(skim(calling({ path: "a", limit: 3 }), 256)).toEqual({
    text: 'path="a", limit=3',
    isShortened: false,
  });
});

test.each([
  ["a long value", { command: `ls ${"x".repeat(60)}; rm -rf /` }, 256],
  ["the end of many arguments", { a: "1", b: "2", c: "3", harm: "rm -rf /" }, 30],
])("who cannot see %s is told so", (_, args, width) => {
  const { text, isShortened } = skim(calling(args), width);
  expect(text).not.toContain("rm -rf");
  const whole = Object.entries(args).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  expect(text).toContain(`… [shortened: ${whole.join(", ").length} characters in all]`);
  expect(isShortened).toBe(true);
});

test("a question that is cut off has the mark too", () => {
  const asking = create(ApprovalSchema, { question: { message: "why? ".repeat(20) } });
  expect(skim(asking, 60).text).toMatch(/^asks: why\?.*… \[shortened: 105 characters in all\]$/);
});

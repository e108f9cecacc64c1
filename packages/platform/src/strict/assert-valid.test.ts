import { create } from "@bufbuild/protobuf";
import { StartRunRequestSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { ruleViolations } from "./assert-valid.ts";

test("a text that is empty is called empty", () => {
  const request = create(StartRunRequestSchema, { agentId: "writer", input: "" });
  expect(ruleViolations(StartRunRequestSchema, request)).toEqual([
    { field: "input", description: "must not be empty", reason: "STRING_MIN_LEN" },
  ]);
});

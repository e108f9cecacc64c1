import { create } from "@bufbuild/protobuf";
import { StartRunRequestSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { ruleViolations } from "./assert-valid.ts";

test("a rule about one character is worded for one", () => {
  const request = create(StartRunRequestSchema, { agentId: "writer", input: "" });
  expect(ruleViolations(StartRunRequestSchema, request)).toEqual([
    { field: "input", description: "must be at least 1 character", reason: "STRING_MIN_LEN" },
  ]);
});

import { create } from "@bufbuild/protobuf";
import { RunPreparedSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { whyWithheld, withheldFrom } from "./withheld.ts";

const prepared = create(RunPreparedSchema, {
  tools: [{ name: "read_file" }],
  policy: { withheld: [{ kind: "tool_classes", name: "execute", rule: "sales", tool: "run" }] },
  plan: {
    excludedTools: [
      { name: "run", reason: "its class is not granted" },
      { name: "memory_write", reason: "a permission rule denies it" },
    ],
  },
});

test("lists once what a run could not use, and why", () => {
  expect(withheldFrom({ prepared })).toEqual([
    { name: "run", kind: "tool classes: execute", why: "rule sales of the operator's policy" },
    { name: "memory_write", kind: "tool", why: "a permission rule denies it" },
  ]);
  expect(whyWithheld({ prepared }, "memory_write")).toBe("a permission rule denies it");
  expect(whyWithheld({ prepared }, "read_file")).toBeUndefined();
  expect(withheldFrom({ prepared: undefined })).toEqual([]);
});

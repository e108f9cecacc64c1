import { create } from "@bufbuild/protobuf";
import { ToolCallSchema } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import { jobsOf } from "./jobs-of.ts";

test.each([
  ["a".repeat(80), 80],
  ["a".repeat(81), 80],
  ["😀".repeat(80), 80],
  ["😀".repeat(5_000), 80],
  ["one line\nand more", 8],
])("the title of a job is the start of its task: %#", (task, characters) => {
  const name = "run_parallel_subtasks";
  const [job] = jobsOf(create(ToolCallSchema, { name, arguments: { jobs: [{ task }] } }));
  expect(Array.from(job?.title ?? "")).toHaveLength(characters);
});

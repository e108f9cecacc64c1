import { create, fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { runtimeTools } from "@reeve/agent/tools/runtime-tools";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { fact } from "../state/fact.ts";
import { scopeOf } from "../state/frame.ts";
import { PlayedRun, jobs, subtask } from "../../../test/support/run-player.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text).length;
const limited = (maxResultBytes: number) =>
  new PlayedRun({
    allowParallelSubagents: true,
    maxParallelSubagents: 7,
    budgets: { maxResultBytes },
  });

test("a result that is too long is cut with the key of the complete one in the memory", () => {
  const run = limited(1_000).turn(subtask("a"));
  const [child = ""] = run.subtasks;
  run.says("x".repeat(5_000), child).turnIn(child);
  expect(bytesOf(run.resultsSeen()[0] ?? "")).toBeLessThanOrEqual(1_000);
  expect(run.resultsSeen()[0]).toContain(
    `call memory_read with key task:${child} to read the whole`,
  );
  expect(run.state.memory.get(`task:${child}`)).toHaveLength(5_000);
});

// Requirement: META-4
test("a result that is too long names no tool that the caller lacks", () => {
  const allowedTools = fromJson(ListValueSchema, ["run_subtask"]);
  const spec = { allowedTools, budgets: { maxResultBytes: 1_000 } };
  const tools = runtimeTools(create(AgentSpecSchema)).filter(({ name }) => name === "run_subtask");
  const run = new PlayedRun(spec, { prepared: { tools } });
  run.turn(subtask("a"));
  const [child = ""] = run.subtasks;
  run.says("x".repeat(5_000), child).turnIn(child);
  expect(run.resultsSeen()[0]).toMatch(/^x+\n\[cut: 5000 bytes in all, the first 1000 shown\]$/);
});

test("the entries of jobs share the size limit of a result, and stay complete entries", () => {
  const text = fc.string({ unit: "binary", maxLength: 3_000, size: "max" });
  fc.assert(
    fc.property(fc.array(text, { minLength: 7, maxLength: 7 }), (texts) => {
      const run = limited(3_000).turn(jobs(...texts.map(() => ({ task: "x" }))));
      for (const [index, id] of run.subtasks.entries()) run.says(texts[index] ?? "", id).turnIn(id);
      const [content = ""] = run.resultsSeen();
      expect(bytesOf(content)).toBeLessThanOrEqual(3_000);
      expect(JSON.parse(content)).toHaveLength(7);
    }),
    { numRuns: 10 },
  );
}, 300_000);

// Requirement: SUB-8
test("the entries of jobs are JSON within the limit, however small it is and whatever they contain", () => {
  for (const text of ["ü".repeat(9_000), "\u0001".repeat(9_000), `"\\`.repeat(4_000)]) {
    const run = limited(1_000).turn(jobs(...Array.from({ length: 7 }, () => ({ task: "x" }))));
    const [first = "", ...others] = run.subtasks;
    run.fails("x".repeat(9_000), { id: first });
    for (const id of others) run.says(text, id).turnIn(id);
    const [content = ""] = run.resultsSeen();
    expect(bytesOf(content)).toBeLessThanOrEqual(1_000);
    expect(JSON.parse(content)).toMatchObject([
      { index: 0, status: "error" },
      ...others.map((_, index) => ({ index: index + 1, status: "success" })),
    ]);
  }
});

test("the failure of a subtask is cut like a result, and stays JSON", () => {
  const run = limited(1_000).turn(subtask("a"));
  const [child = ""] = run.subtasks;
  const value = { reason: "invalid", message: `"`.repeat(5_000) };
  run.append([fact(scopeOf(run.frame(child)), { case: "modelCallFailed", value })]);
  const [content = ""] = run.resultsSeen();
  expect(bytesOf(content)).toBeLessThanOrEqual(1_000);
  expect(JSON.parse(content)).toMatchObject({ error: "provider_refused" });
});

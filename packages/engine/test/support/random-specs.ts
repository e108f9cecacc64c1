import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AgentSpecSchema } from "@reeve/contracts/agent";
import * as fc from "fast-check";
import type { Setting } from "./played-log.ts";
import type { PlayedCall } from "./run-player.ts";
import { jobs, subtask } from "./run-player.ts";

/** The schema of subtask results in these worlds. */
const resultSchema = {
  type: "object",
  properties: { n: { type: "integer" } },
  required: ["n"],
};

const some = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
const upTo = (max: number) => some(fc.nat(max));

const budgets = fc.record(
  {
    maxDepth: upTo(3),
    maxParallel: some(fc.integer({ min: 1, max: 8 })),
    maxSubtasks: upTo(8),
    maxLlmCalls: upTo(40),
    maxToolCalls: upTo(40),
    maxResultBytes: some(fc.constant(1_000)),
    maxHistoryTokens: some(fc.integer({ min: 300, max: 5_000 })),
    maxTotalTokens: some(fc.nat(200_000)),
    maxTotalBytes: some(fc.nat(20_000)),
    maxCostUsd: some(fc.double({ min: 0, max: 20, noNaN: true })),
  },
  { requiredKeys: [] },
);

/** Agents with all options that change the loop. */
export const anySpec: fc.Arbitrary<MessageInitShape<typeof AgentSpecSchema>> = fc
  .record({
    planningEnabled: fc.boolean(),
    maxRounds: some(fc.integer({ min: 1, max: 8 })),
    hitlTools: fc.subarray(["search", "write", "run_subtask", "memory_write"]),
    budgetAwareness: some(fc.constantFrom("per-message", "limit:0", "limit:40", "limit:90")),
    contextPolicy: some(fc.constant({})),
    answerPolicy: some(
      fc.record({
        truncated: fc.constantFrom("", "complete", "continue", "error"),
        filtered: fc.constantFrom("", "complete", "error"),
      }),
    ),
    injectedToolArgs: fc.constantFrom({}, { origin: "who calls" }),
    allowParallelSubagents: fc.boolean(),
    questions: some(fc.constantFrom({}, { people: ["ann"] }, { timeout: { seconds: 60n } })),
    maxParallelSubagents: fc.integer({ min: 1, max: 7 }),
    budgets: fc.option(budgets, { nil: undefined, freq: 2 }),
  })
  .map(present);

/** Providers and tools of all kinds. */
export const anySetting: fc.Arbitrary<Setting> = fc
  .record({
    contextWindow: fc.constantFrom(0, 2_000, 8_000),
    isParallel: fc.boolean(),
    isPlannerParallel: fc.boolean(),
  })
  .map(({ contextWindow, isParallel, isPlannerParallel }) => ({
    tools: [
      { name: "search" },
      { name: "alone", parallelSafe: false },
      { name: "write", exclusiveLock: "disk" },
      { name: "paint", exclusiveLock: "canvas" },
      { name: "strict", inputSchema: resultSchema },
      { name: "pick", source: "client:c", client: { timeout: { seconds: 9n } } },
    ],
    prepared: {
      model: {
        id: "m",
        contextWindow,
        maxOutputTokens: 50,
        pricing: { inputUsdPerMillion: 100, outputUsdPerMillion: 1_000 },
      },
      capabilities: { tools: true, parallelToolCalls: isParallel },
      planningCapabilities: { tools: true, parallelToolCalls: isPlannerParallel },
    },
  }));

const call: fc.Arbitrary<PlayedCall> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom<PlayedCall>(
      { name: "search", args: { q: "a", origin: "here" } },
      { name: "search" },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constant<PlayedCall>({ name: "pick" }),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom<PlayedCall>({ name: "alone" }, { name: "write" }, { name: "paint" }),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom<PlayedCall>(
      { name: "nothing" },
      { name: "search", args: "{broken" },
      { name: "strict", args: { n: "x" } },
      { name: "strict", args: { n: 1 } },
      { name: "finish_subtask", args: { n: 1 } },
      { name: "finish_subtask", args: {} },
      { name: "run_subtask", args: {} },
      subtask("bad", { tools: ["nothing"] }),
      subtask("bad", { output_schema: { type: 7 } }),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom<PlayedCall>(
      subtask("a"),
      subtask("b", { tools: [] }),
      subtask("c", { tools: ["search", "run_subtask"] }),
      subtask("d", { output_schema: resultSchema }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .array(
        fc.constantFrom(
          { task: "x" },
          { task: "y", output_schema: resultSchema },
          { task: "z", tool_names: [] },
        ),
        { minLength: 1, maxLength: 5 },
      )
      .map((list) => jobs(...list)),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom<PlayedCall>(
      { name: "memory_write", args: { key: "k", value: "v" } },
      { name: "memory_list" },
      { name: "memory_read", args: { key: "k" } },
      { name: "add_todo", args: { text: "t" } },
      { name: "ask_user", args: { question: "which?", choices: ["a", "b"] } },
      { name: "ask_user", args: { question: "which?", choices: [] } },
      { name: "complete_todo", args: { id: 1 } },
    ),
  },
);

/** The calls of one turn, sometimes more than may run in parallel. */
export const anyCalls: fc.Arbitrary<readonly PlayedCall[]> = fc.oneof(
  { weight: 5, arbitrary: fc.array(call, { minLength: 1, maxLength: 4 }) },
  { weight: 1, arbitrary: fc.array(call, { minLength: 9, maxLength: 12 }) },
);

/** Removes undefined fields, which the constructors of messages do not accept. */
function present(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]): [string, unknown] => [key, isPlain(value) ? present(value) : value]),
  );
}

function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

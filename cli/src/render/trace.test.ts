import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ApprovalState } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema, IncompleteReason, RunStatus, StepState } from "@reeve/contracts/run";
import { ToolStatus } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import { plainStyle } from "../../test/support/memory-terminal.ts";
import { closeTrace, renderEvent } from "./trace.ts";
import { emptyTrace } from "./trace/trace-state.ts";

type Init = MessageInitShape<typeof RunEventSchema>;

const options = { style: plainStyle, columns: 80, reeve: "reeve" };

/** Returns the output for these events, each 100 ms after the previous one. */
function output(...events: readonly Init["event"][]): string {
  return outputOf(events.map((event) => ({ event }) as Init));
}

function outputOf(inits: readonly Init[], shown = options): string {
  let state = emptyTrace;
  let text = "";
  for (const [index, init] of inits.entries()) {
    const time = timestampFromMs(1_000 + 100 * index);
    const event: RunEvent = create(RunEventSchema, {
      runId: "run_1",
      time,
      stepNumber: 1,
      ...init,
    });
    const rendered = renderEvent(state, event, shown);
    state = rendered.state;
    text += rendered.output;
  }
  return text + closeTrace(state).output;
}

const created = { case: "runCreated", value: { agentId: "writer" } } as const;
const prepared = {
  case: "runPrepared",
  value: { model: { id: "default", provider: "openai", upstreamName: "gpt" } },
} as const;
const text = (value: string) => ({ case: "text", value: { text: value } }) as const;
const call = (args: { readonly [name: string]: string }) =>
  ({ case: "toolCall", value: { name: "read_file", arguments: args } }) as const;

const failed = (status: ToolStatus) =>
  ({
    case: "toolResult",
    value: { result: { name: "a", metadata: { status } }, success: false, error: "no" },
  }) as const;

test.each([40, 80, 120])("cuts lines about tools to a terminal of %d columns", (columns) => {
  const long = "word ".repeat(100);
  const name = "read_file";
  const durationMs = 123_456;
  const lines = outputOf(
    [
      prepared,
      call({ path: long, other: long }),
      { case: "mcpProgress", value: { name, progress: 1, total: 2, message: long } } as const,
      { case: "toolResult", value: { result: { name, content: long }, success: true, durationMs } },
      { case: "toolResult", value: { result: { name }, error: long, durationMs } },
    ].map((event) => ({ event, depth: 1 }) as Init),
    { ...options, columns },
  ).split("\n");
  expect(lines).toHaveLength(6);
  expect(lines.filter((line) => line.length > columns)).toEqual([]);
});

test("counts the tool calls that failed in the last line, without those that people rejected", () => {
  const end = { case: "status", value: { status: RunStatus.COMPLETED } } as const;
  const { ERROR, REJECTED, TIMED_OUT } = ToolStatus;
  expect(output(created, failed(ERROR), failed(REJECTED), failed(TIMED_OUT), end)).toMatch(
    /✓ completed in .* · 2 tool calls failed\n$/,
  );
  expect(output(created, failed(REJECTED), end)).toMatch(/✓ completed in [\d.]+ ms\n$/);
});

test("renders a complete run", () => {
  expect(
    output(
      created,
      { case: "status", value: { status: RunStatus.STARTING } },
      prepared,
      { case: "step", value: { state: StepState.STARTED } },
      text("I look "),
      text("first."),
      call({ path: "data.csv" }),
      {
        case: "toolResult",
        value: {
          result: { name: "read_file", content: "a,b\n1,2" },
          success: true,
          durationMs: 12,
        },
      },
      { case: "step", value: { state: StepState.COMPLETED } },
      {
        case: "costSummary",
        value: { llmCalls: 2, toolCalls: 1, inputTokens: 1200, outputTokens: 30, costUsd: 0.00123 },
      },
      { case: "status", value: { status: RunStatus.COMPLETED } },
    ),
  ).toBe(
    [
      "run run_1 · agent writer · model openai:gpt",
      "  step 1",
      "    I look first.",
      '    → read_file path="data.csv"',
      "    ✓ read_file 12 ms a,b 1,2",
      "✓ completed in 1.0 s · 2 model calls · 1 tool call · 1,200 + 30 tokens · $0.0012",
      "",
    ].join("\n"),
  );
});

test("says that an answer of the run or of a subtask is incomplete", () => {
  const incompleteReason = IncompleteReason.TRUNCATED;
  const subtask = { subtaskId: "s", title: "sum", ended: true, incompleteReason };
  const message = "the answer is truncated";
  expect(
    output(
      prepared,
      { case: "subtask", value: subtask },
      { case: "status", value: { status: RunStatus.COMPLETED, message, incompleteReason } },
    ),
  ).toMatch(/✓ sum \(truncated\)\n! completed, truncated in .* · the answer is truncated\n$/);
});

test("says on the first line that a script answers", () => {
  const scripted = {
    case: "runPrepared",
    value: { model: { upstreamName: "csv-report" }, scripted: true },
  } as const;
  expect(output(created, scripted)).toBe(
    'run run_1 · agent writer · scripted answers "csv-report", no model is called\n',
  );
});

test("joins and indents streamed text", () => {
  expect(output(prepared, text("one\ntw"), text("o\n"), text("three"), call({}))).toContain(
    "    one\n    two\n    three\n    → read_file\n",
  );
});

test("ends an open line when no more events follow", () => {
  expect(output(prepared, text("half"))).toMatch(/half\n$/);
});

test("shows no duration of a call that was never made", () => {
  const result = { name: "publish", metadata: { status: ToolStatus.REJECTED } };
  const value = { result, error: "a person rejected this call", durationMs: 0 };
  expect(output(prepared, { case: "toolResult", value })).toContain(
    "✗ publish a person rejected this call\n",
  );
});

test("shows the commands that decide an approval, and who decided it", () => {
  const approval = { approvalId: "run_1-9-0", call: { name: "publish" } };
  const printed = output(
    prepared,
    { case: "approval", value: { approval: { ...approval, state: ApprovalState.PENDING } } },
    {
      case: "approval",
      value: {
        approval: {
          ...approval,
          state: ApprovalState.REJECTED,
          decision: { decidedBy: "ann", reason: "not yet" },
        },
      },
    },
  );
  expect(printed).toContain("▲ publish is waiting for approval");
  expect(printed).toContain("      reeve approve run_1-9-0\n      reeve reject run_1-9-0\n");
  expect(printed).toContain("▲ publish rejected by ann: not yet");
});

test("indents subtasks, and separates the text of concurrent ones", () => {
  const ended = { case: "step", value: { state: StepState.STARTED } } as const;
  const printed = outputOf([
    { event: prepared },
    { event: text("above") },
    { event: text("one "), depth: 1, parentId: "a" },
    { event: text("two "), depth: 1, parentId: "b" },
    { event: text("and more"), depth: 1, parentId: "a" },
    { event: text("also"), depth: 1, parentId: "b" },
    { event: ended, depth: 1, parentId: "b" },
    { event: ended, depth: 1, parentId: "a" },
  ]);
  expect(printed).toMatch(/ {4}above\n {6}two also\n.*\n {6}one and more\n/);
});

test("shows why a run failed", () => {
  const printed = output(
    prepared,
    { case: "error", value: { reason: "provider_failed", message: "no answer" } },
    { case: "status", value: { status: RunStatus.ERROR } },
  );
  expect(printed).toContain("✗ provider_failed: no answer\n✗ failed in 200 ms");
});

test.each([
  ["rate_limited", "rate limited by openai, attempt 2 in 3.0 s: slow down"],
  ["unavailable", "openai is unavailable, attempt 2 in 3.0 s: slow down"],
  ["not_configured", "provider openai is missing, attempt 1 in 3.0 s: slow down"],
])("explains a wait for a model that failed as %s", (reason, shown) => {
  const failure = { reason, provider: "openai", message: "slow down", attempt: 1 };
  const value = { ...failure, retryDelay: { seconds: 3n } };
  expect(output(prepared, { case: "modelCallFailed", value })).toContain(shown);
  expect(output(prepared, { case: "modelCallFailed", value: failure })).not.toContain("slow down");
});

test("counts only attempts that reached the provider", () => {
  const reasons = ["unavailable", "paused", "paused", "unavailable"];
  const printed = output(
    prepared,
    ...reasons.map((reason, index) => {
      const value = { reason, provider: "openai", attempt: index + 1, retryDelay: { seconds: 3n } };
      return { case: "modelCallFailed" as const, value };
    }),
  );
  expect(printed.match(/attempt \d/g)).toEqual([
    "attempt 2",
    "attempt 2",
    "attempt 2",
    "attempt 3",
  ]);
});

test("says which model takes over from one that gives no answer", () => {
  const failure = { provider: "openai", message: "no such key", fallbackModel: "claude" };
  const value = { ...failure, reason: "unauthenticated", attempt: 1 };
  expect(output(prepared, { case: "modelCallFailed", value })).toContain(
    "openai refuses the key, model claude takes over: no such key",
  );
});

test("text cannot control the terminal", () => {
  const evil = "\u001b[2J\u001b]0;x\u0007\r\u202eabc\u009b1m";
  const printed = output(
    prepared,
    text(evil),
    call({ path: evil }),
    { case: "toolResult", value: { result: { name: evil, content: evil }, error: evil } },
    { case: "error", value: { reason: "x", message: evil } },
  );
  // Every control character except the line feed, and the characters that change the text direction.
  expect(/(?!\n)\p{Cc}|[\u202a-\u202e]/u.test(printed)).toBe(false);
});

test("skips unknown events", () => {
  expect(output(prepared, { case: undefined }, text("on"))).toMatch(/\n    on\n$/);
});

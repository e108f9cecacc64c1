import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ApprovalState } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema, RunStatus, StepState } from "@reeve/contracts/run";
import pc from "picocolors";
import { expect, test } from "vitest";
import { closeTrace, renderEvent } from "./trace.ts";
import { emptyTrace } from "./trace-state.ts";

type Init = MessageInitShape<typeof RunEventSchema>;

const style = { colours: pc.createColors(false), columns: 80 };

/** What a terminal shows for these events, each 100 ms after the one before. */
function shown(...events: readonly Init["event"][]): string {
  return shownAll(events.map((event) => ({ event }) as Init));
}

function shownAll(inits: readonly Init[]): string {
  let state = emptyTrace;
  let output = "";
  for (const [index, init] of inits.entries()) {
    const time = timestampFromMs(1_000 + 100 * index);
    const event: RunEvent = create(RunEventSchema, {
      runId: "run_1",
      time,
      stepNumber: 1,
      ...init,
    });
    const rendered = renderEvent(state, event, style);
    state = rendered.state;
    output += rendered.output;
  }
  return output + closeTrace(state).output;
}

const created = { case: "runCreated", value: { agentId: "writer" } } as const;
const prepared = {
  case: "runPrepared",
  value: { model: { id: "default", provider: "openai", upstreamName: "gpt" } },
} as const;
const text = (said: string) => ({ case: "text", value: { text: said } }) as const;
const call = (given: { readonly [name: string]: string }) =>
  ({ case: "toolCall", value: { name: "read_file", arguments: given } }) as const;

test("shows a whole run", () => {
  expect(
    shown(
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

test("says on the first line that answers come from a script", () => {
  const scripted = {
    case: "runPrepared",
    value: { model: { upstreamName: "csv-report" }, scripted: true },
  } as const;
  expect(shown(created, scripted)).toBe(
    'run run_1 · agent writer · scripted answers "csv-report", no model is called\n',
  );
});

test("keeps the lines of streamed text together and indented", () => {
  expect(shown(prepared, text("one\ntw"), text("o\n"), text("three"), call({}))).toContain(
    "    one\n    two\n    three\n    → read_file\n",
  );
});

test("ends an open line when nothing more comes", () => {
  expect(shown(prepared, text("half"))).toMatch(/half\n$/);
});

test("shows how an approval is decided, and by whom it was", () => {
  const approval = { approvalId: "run_1-9-0", call: { name: "publish" } };
  const output = shown(
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
  expect(output).toContain("▲ publish waits for approval");
  expect(output).toContain("      reeve approve run_1-9-0\n      reeve reject run_1-9-0\n");
  expect(output).toContain("▲ publish rejected by ann: not yet");
});

test("indents what a subtask does, and keeps apart what several say at once", () => {
  const ended = { case: "step", value: { state: StepState.STARTED } } as const;
  const output = shownAll([
    { event: prepared },
    { event: text("above") },
    { event: text("one "), depth: 1, parentId: "a" },
    { event: text("two "), depth: 1, parentId: "b" },
    { event: text("and more"), depth: 1, parentId: "a" },
    { event: text("also"), depth: 1, parentId: "b" },
    { event: ended, depth: 1, parentId: "b" },
    { event: ended, depth: 1, parentId: "a" },
  ]);
  expect(output).toMatch(/ {4}above\n {6}two also\n.*\n {6}one and more\n/);
});

test("shows why a run failed", () => {
  const output = shown(
    prepared,
    { case: "error", value: { reason: "provider_failed", message: "no answer" } },
    { case: "status", value: { status: RunStatus.ERROR } },
  );
  expect(output).toContain("✗ provider_failed: no answer\n✗ failed in 200 ms");
});

test("lets no text steer the terminal", () => {
  const evil = "\u001b[2J\u001b]0;x\u0007\r\u202eabc\u009b1m";
  const output = shown(
    prepared,
    text(evil),
    call({ path: evil }),
    { case: "toolResult", value: { result: { name: evil, content: evil }, error: evil } },
    { case: "error", value: { reason: "x", message: evil } },
  );
  // Every control character but the line feed, and the marks that turn the direction of writing.
  expect(/(?!\n)\p{Cc}|[\u202a-\u202e]/u.test(output)).toBe(false);
});

test("leaves out events that it does not know", () => {
  expect(shown(prepared, { case: undefined }, text("on"))).toMatch(/\n    on\n$/);
});

import { ApprovalSource, ApprovalState, GateKind } from "@reeve/contracts/approval";
import { callDigest } from "@reeve/contracts/digest/call-digest";
import { ApprovalStatus, ToolStatus } from "@reeve/contracts/tool";
import { turnEnded } from "@reeve/run/thread/turn-ended";
import { treeOf } from "@reeve/run/tree/execution-tree";
import { describe, expect, test } from "vitest";
import { approvedCall } from "./calls/approved-call.ts";
import { nextEffects, openWaits } from "./next-effects.ts";
import { PlayedRun, jobs, subtask } from "../../test/support/run-player.ts";
import { expectOrder } from "../../test/support/event-order.ts";

const effects = (run: PlayedRun) => nextEffects(run.state).map(({ kind }) => kind);
const { APPROVED, REJECTED, TIMED_OUT, WITHDRAWN } = ApprovalState;

const strict = {
  name: "search",
  inputSchema: { type: "object", properties: { q: { type: "string" } } },
};

describe("a call that needs an approval", () => {
  // Requirement: INJ-3, HITL-8
  test("is requested with everything that the decision needs", () => {
    const run = new PlayedRun(
      {
        hitlTools: ["search"],
        injectedToolArgs: { origin: "who calls" },
        approvalPolicy: { allowEditedArguments: true, timeout: { seconds: 60n } },
      },
      { created: { startedBy: "ann", threadId: "sales" } },
    );
    run.turn({ name: "search", args: { q: "a", origin: "console" } });
    const [requested] = run.all("approval");
    expect(requested?.approval).toMatchObject({
      state: ApprovalState.PENDING,
      agentId: "tester",
      runId: "run_test",
      threadId: "sales",
      requestedBy: "ann",
      allowEditedArguments: true,
      parentId: "",
      gates: [GateKind.TOOL],
      source: ApprovalSource.RUN,
      callDigest: callDigest(
        { name: "search", arguments: { q: "a" } },
        { agentId: "tester", agentRevision: 0 },
      ),
      call: { name: "search", arguments: { q: "a" }, injectedArgs: { origin: "console" } },
    });
    const { requestedAt, expiresAt } = requested?.approval ?? {};
    expect(Number(expiresAt?.seconds) - Number(requestedAt?.seconds)).toBe(60);
  });

  test("that several gates hold is requested once, with all of them", () => {
    const prepared = { gatedTools: ["search"] };
    const run = new PlayedRun({ hitlTools: ["search"] }, { prepared }).turn({ name: "search" });
    expect(run.all("approval").map(({ approval }) => approval?.gates)).toEqual([
      [GateKind.TOOL, GateKind.TOOL_SOURCE],
    ]);
  });

  test("never runs if the approval was given for another call", () => {
    const run = new PlayedRun({ hitlTools: ["search"] }).turn({ name: "search" });
    const [requested] = run.all("approval");
    if (requested?.approval === undefined) throw new Error("no approval was requested");
    const approval = { ...requested.approval, state: APPROVED, callDigest: "0".repeat(64) };
    run.write({ case: "approval", value: { approval } });
    expect(run.all("toolCallStarted")).toEqual([]);
    expect(run.all("toolResult")[0]).toMatchObject({
      success: false,
      error: "the approval was given for another call",
    });
  });

  test("is refused at once, without a request, when it cannot run", () => {
    const strict = { name: "strict", inputSchema: { required: ["n"] } };
    const run = new PlayedRun({ hitlTools: ["strict"] }, { tools: [strict] });
    run.turn({ name: "strict" }, { name: "strict", args: "{broken" });
    expect(run.all("approval")).toEqual([]);
    expect(run.resultsSeen()).toHaveLength(2);
  });

  // Requirement: HITL-1, HITL-2, HITL-3, META-1
  test.each([
    [REJECTED, ToolStatus.REJECTED, ApprovalStatus.REJECTED],
    [WITHDRAWN, ToolStatus.REJECTED, ApprovalStatus.REJECTED],
    [TIMED_OUT, ToolStatus.TIMED_OUT, ApprovalStatus.TIMED_OUT],
  ])(
    "whose approval ends as %s never runs, and its record says so",
    (state, status, approvalStatus) => {
      const run = new PlayedRun({ hitlTools: ["search"] }).turn({ name: "search" }).decides(state);
      const [approval] = run.all("approval");
      expect(run.all("toolCallStarted")).toEqual([]);
      const [toolResult] = run.all("toolResult");
      expect(toolResult?.result?.metadata).toMatchObject({
        status,
        approvalStatus,
        approvalId: approval?.approval?.approvalId,
      });
      expect(toolResult?.durationMs).toBe(0);
      expectOrder(run.says("then not").turn().events);
    },
  );

  // Requirement: HITL-2
  test("does not affect its siblings, whatever the decision", () => {
    const run = new PlayedRun(
      { hitlTools: ["search"] },
      { tools: [{ name: "search" }, { name: "count" }] },
    );
    run.turn({ name: "search" }, { name: "count" });
    expect(effects(run)).toEqual(["call_tool"]);
    run.result(1, "one").decides(REJECTED);
    expect(run.resultsSeen()).toEqual(["a person rejected this call: not today", "one"]);
  });

  // Requirement: HITL-2
  test("is checked again with its edited arguments", () => {
    const strict = { name: "strict", inputSchema: { properties: { n: { type: "integer" } } } };
    const run = new PlayedRun({ hitlTools: ["strict"] }, { tools: [strict] });
    run.turn({ name: "strict", args: { n: 1 } }).decides(APPROVED, { edited: { n: "x" } });
    expect(run.resultsSeen()).toEqual([expect.stringContaining("n must be integer")]);
    expect(run.all("toolCallStarted")).toEqual([]);
  });

  test("runs with its edited arguments, and the log keeps those of the model", () => {
    const run = new PlayedRun({ hitlTools: ["search"] }).turn({ name: "search", args: { q: "a" } });
    run.decides(APPROVED, { edited: { q: "b" } });
    const [call] = run.frame().calls;
    expect(call && approvedCall(call).arguments).toEqual({ q: "b" });
    expect(run.all("toolCall")[0]?.arguments).toEqual({ q: "a" });
  });

  // Requirement: HITL-2, HITL-3
  test("tells everybody about edited arguments: the model, the result, the tree, and the thread", () => {
    const run = new PlayedRun({ hitlTools: ["search"] }).turn({ name: "search", args: { q: "a" } });
    run.decides(APPROVED, { edited: { q: "b" } }).result(0, "found");
    const note = expect.stringContaining(`it ran with: {"q":"b"}]`);
    expect(run.prompt().at(-1)).toMatchObject({ role: "tool", content: "found", notes: [note] });
    expect(run.all("toolResult")[0]?.result?.metadata?.editedArguments).toBe(`{"q":"b"}`);
    const [node] = treeOf(run.state.head.tree).nodes;
    expect(node).toMatchObject({ argsPreview: `{"q":"b"}`, argsEdited: true });
    const { messages = [] } = turnEnded("run_test", run.says("done").turn().events);
    expect(messages[2]?.message).toMatchObject({
      case: "toolResult",
      value: { content: expect.stringMatching(/^found\n\[a person replaced .*\{"q":"b"\}\]$/) },
    });
  });

  test("says so too if its edited arguments do not fit, and shortens them", () => {
    const run = new PlayedRun({ hitlTools: ["search"] }, { tools: [strict] });
    run.turn({ name: "search", args: { q: "a" } });
    run.decides(APPROVED, { edited: { q: 7, more: "x".repeat(9_000) } });
    const [result] = run.all("toolResult");
    expect(result?.success).toBe(false);
    expect(result?.result?.metadata?.editedArguments).toMatch(/^\{"q":7,"more":"x/);
    expect(result?.result?.metadata?.editedArguments).toHaveLength(4_000);
  });

  test("says nothing about the arguments if nobody edited them", () => {
    const run = new PlayedRun({ hitlTools: ["search"] }).turn({ name: "search", args: { q: "a" } });
    run.decides(APPROVED).result(0, "found");
    expect(run.prompt().at(-1)).not.toHaveProperty("notes");
    expect(treeOf(run.state.head.tree).nodes[0]).toMatchObject({
      argsPreview: `{"q":"a"}`,
      argsEdited: false,
    });
  });

  test("may be of a runtime tool, or of one that starts subtasks", () => {
    const run = new PlayedRun({
      hitlTools: ["memory_write", "run_subtask", "run_parallel_subtasks"],
      allowParallelSubagents: true,
    });
    const write = { name: "memory_write", args: { key: "k", value: "v" } };
    run.turn(write, subtask("a"), jobs({ task: "b" }));
    expect([run.all("memoryWritten"), run.subtasks]).toEqual([[], []]);
    run.decides(APPROVED).decides(APPROVED, { edited: { title: "z", instructions: "do z" } });
    run.decides(REJECTED);
    expect(run.all("memoryWritten")).toHaveLength(1);
    expect(run.subtasks).toHaveLength(1);
    expect(run.prompt(run.subtasks[0])).toEqual([{ role: "user", text: "do z" }]);
  });
});

describe("an approval in a subtask", () => {
  // Requirement: HITL-8
  test("is requested at the run, and names the subtask", () => {
    const run = new PlayedRun({ hitlTools: ["search"] }).turn(subtask("a"));
    const [child = ""] = run.subtasks;
    run.turnIn(child, [{ name: "search" }]);
    expect(run.all("approval")[0]?.approval?.parentId).toBe(child);
    expect(openWaits(run.state)).toHaveLength(1);
  });

  test("lets its siblings work, and the run is parked when they are done", () => {
    const run = new PlayedRun({ hitlTools: ["search"] }).turn(subtask("a"), subtask("b"));
    const [a = "", b = ""] = run.subtasks;
    run.turnIn(a, [{ name: "search" }]);
    expect(effects(run)).toEqual(["call_model"]);
    run.says("b is 2", b).turnIn(b);
    expect(effects(run)).toEqual([]);
    expect(openWaits(run.state)).toHaveLength(1);
    run.parks().decides(APPROVED).claimedAnew();
    run.result(0, "found", a).says("a is 1", a).turnIn(a);
    expect(run.resultsSeen()).toEqual(["a is 1", "b is 2"]);
    expectOrder(run.says("3").turn().events);
  });
});

test("a parked run injects a message only when it continues", () => {
  const run = new PlayedRun({ hitlTools: ["search"] }).turn({ name: "search" }).parks();
  run.receivesMessage("never mind").claimedAnew();
  expect(run.all("messageInjected")).toEqual([]);
  expect(openWaits(run.state)).toHaveLength(1);
  run.parks().decides(REJECTED).claimedAnew();
  expect(run.prompt().at(-1)).toEqual({ role: "user", text: "never mind" });
  expectOrder(run.says("fine").turn().events);
});

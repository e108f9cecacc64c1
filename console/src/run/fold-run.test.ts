import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { RunEvent } from "@reeve/contracts/run";
import { Phase, RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { ApprovalState } from "@reeve/contracts/approval";
import type { TreeChanges } from "@reeve/run/tree/execution-tree";
import { treeAfter, treeOf } from "@reeve/run/tree/execution-tree";
import { expect, test } from "vitest";
import { stateOfCall } from "./call-state.ts";
import { foldRun } from "./fold-run.ts";
import type { RunModel } from "./run-model.ts";
import { emptyRun } from "./run-model.ts";
import type { TreeNode } from "./tree-nodes.ts";
import { treeNodesOf } from "./tree-nodes.ts";

type Init = MessageInitShape<typeof RunEventSchema>;

function eventsOf(inits: readonly Init[]): readonly RunEvent[] {
  return inits.map((init, index) =>
    create(RunEventSchema, { sequence: index + 1, time: timestampFromMs(1_000 + index), ...init }),
  );
}

function folded(...inits: readonly Init[]): RunModel {
  const run = emptyRun("run_1");
  for (const event of eventsOf(inits)) foldRun(run, event);
  return run;
}

const created: Init = {
  event: { case: "runCreated", value: { agentId: "writer", input: "hello", startedBy: "ann" } },
};
const text = (text: string, stepNumber = 1): Init => ({
  stepNumber,
  event: { case: "text", value: { text } },
});
const called = (callId: string, name: string, parentId = ""): Init => ({
  parentId,
  event: { case: "toolCall", value: { callId, name } },
});
const resulted = (callId: string, success = true): Init => ({
  event: { case: "toolResult", value: { result: { callId, content: "42" }, success } },
});
const subtask = (subtaskId: string, callId: string, ended = false, parentId = ""): Init => ({
  parentId,
  event: { case: "subtask", value: { subtaskId, callId, title: subtaskId, ended } },
});

const approval = (state: ApprovalState): Init => ({
  event: {
    case: "approval",
    value: { approval: { approvalId: "x", call: { callId: "a" }, state } },
  },
});

test("text that streams in becomes one message per answer", () => {
  const run = folded(created, text("Hel"), text("lo"), text("Again", 2));
  expect(run.root.items).toMatchObject([
    { kind: "user", text: "hello", by: "ann" },
    { kind: "text", text: "Hello" },
    { kind: "text", text: "Again" },
  ]);
});

test("voided text disappears, and text of other steps stays", () => {
  const run = folded(created, text("kept"), text("gone ", 2), text("too", 2), {
    stepNumber: 2,
    event: { case: "textVoided", value: { firstSequence: 3 } },
  });
  expect(run.root.items).toMatchObject([{ text: "hello" }, { text: "kept" }]);
});

// Requirement: CHAT-6
test("the tree has the same nodes in the same order as the one that the server stores", () => {
  const events = eventsOf([
    created,
    called("a", "run_parallel_subtasks"),
    subtask("a/0", "a"),
    subtask("a/1", "a"),
    called("b", "search", "a/1"),
    called("c", "run_subtask", "a/0"),
    subtask("c", "c", false, "a/0"),
    called("d", "search", "c"),
    resulted("d"),
    resulted("b", false),
    subtask("c", "c", true, "a/0"),
    resulted("c"),
    subtask("a/0", "a", true),
    subtask("a/1", "a", true),
    resulted("a"),
    { ...called("p", "search"), phase: Phase.PLANNER },
  ]);
  const run = emptyRun("run_1");
  for (const event of events) foldRun(run, event);
  const stored = treeOf(events.reduce<TreeChanges>(treeAfter, undefined)).nodes;
  const shown = flattened(treeNodesOf(run));
  expect(new Map(shown)).toEqual(new Map(stored.map(({ id, parentId }) => [id, parentId])));
  // Siblings keep the order in which they began.
  for (const [, parent] of shown) {
    const siblings = (of: readonly (readonly [string, string])[]) =>
      of.filter(([, each]) => each === parent).map(([id]) => id);
    expect(siblings(shown)).toEqual(siblings(stored.map((node) => [node.id, node.parentId])));
  }
});

function flattened(nodes: readonly TreeNode[], parent = ""): (readonly [string, string])[] {
  return nodes.flatMap(({ id, children }) => [[id, parent] as const, ...flattened(children, id)]);
}

test("a call waits while its approval is open, and runs afterwards", () => {
  const waiting = folded(created, called("a", "pay"), approval(ApprovalState.PENDING));
  const [call] = waiting.calls.values();
  expect(call && stateOfCall(call, waiting).name).toBe("waiting for a decision");
  const decided = folded(
    created,
    called("a", "pay"),
    approval(ApprovalState.PENDING),
    approval(ApprovalState.APPROVED),
  );
  const [next] = decided.calls.values();
  expect(next && stateOfCall(next, decided).name).toBe("running");
});

test("a message is listed as waiting until the run takes it up", () => {
  const submitted: Init = {
    event: {
      case: "messageSubmitted",
      value: { messageId: "m", submittedBy: "bob", message: { text: "and?" } },
    },
  };
  const injected: Init = {
    event: { case: "messageInjected", value: { messageId: "m", message: { text: "and?" } } },
  };
  expect([...folded(created, submitted).waiting.keys()]).toEqual(["m"]);
  const run = folded(created, submitted, injected);
  expect(run.waiting.size).toBe(0);
  expect(run.root.items.at(-1)).toMatchObject({ kind: "user", text: "and?", by: "bob" });
});

test("the status is that of the claim, the wait, and the end", () => {
  const claimed: Init = { event: { case: "runClaimed", value: { epoch: 1, worker: "w" } } };
  const parked: Init = { event: { case: "runParked", value: {} } };
  const ended: Init = { event: { case: "status", value: { status: RunStatus.COMPLETED } } };
  expect(folded(created).status).toBe(RunStatus.QUEUED);
  expect(folded(created, claimed).status).toBe(RunStatus.RUNNING);
  expect(folded(created, claimed, parked).status).toBe(RunStatus.WAITING);
  expect(folded(created, claimed, ended).status).toBe(RunStatus.COMPLETED);
});

test("a change of a subtask gives all that contain it a new version", () => {
  const run = folded(created, called("a", "run_subtask"), subtask("a", "a"));
  const before = run.root.version;
  const event = create(RunEventSchema, {
    sequence: 9,
    parentId: "a",
    event: { case: "text", value: { text: "inside" } },
  });
  foldRun(run, event);
  expect(run.root.version).toBeGreaterThan(before);
});

test("the calls of a delegate have its own model, and one decision is one wait", () => {
  const agentId = "counter";
  const call = { event: { case: "modelCallStarted", value: { attempt: 1 } } } as const;
  const run = folded(
    {
      event: {
        case: "runPrepared",
        value: {
          model: { upstreamName: "large" },
          delegates: [{ agentId, model: { upstreamName: "small" } }],
        },
      },
    },
    call,
    called("a", "agent_run_counter"),
    { event: { case: "subtask", value: { subtaskId: "a", callId: "a", agentId } } },
    { ...call, parentId: "a", depth: 1 },
    approval(ApprovalState.PENDING),
    approval(ApprovalState.PENDING),
    approval(ApprovalState.APPROVED),
  );
  const labels = (kind: string) =>
    run.spans.filter((span) => span.kind === kind).map(({ label }) => label);
  expect(labels("model")).toEqual(["large", "small"]);
  expect(labels("approval")).toHaveLength(1);
  expect(run.spans.find(({ kind }) => kind === "approval")?.endMs).toBeDefined();
});

test("a model call whose worker was lost is counted, with what was reserved for it", () => {
  const started: Init = {
    event: { case: "modelCallStarted", value: { attempt: 1, reservedUsd: 0.5 } },
  };
  const used: Init = { event: { case: "usage", value: { costUsd: 0.1 } } };
  const run = folded(created, started, started, used);
  expect(run.lost).toEqual({ calls: 1, reservedUsd: 0.5 });
  expect(run.root).toMatchObject({ costUsd: 0.1, ownUsd: 0.1 });
});

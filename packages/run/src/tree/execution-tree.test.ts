import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import type { TreeChanges } from "./execution-tree.ts";
import { treeAfter, treeOf } from "./execution-tree.ts";
import { previewOf } from "./preview-of.ts";
import { Phase, RunEventSchema } from "@reeve/contracts/run";

type Init = MessageInitShape<typeof RunEventSchema>;

/** The nodes of a run with these events, which are 10 ms apart. */
function nodesAfter(...inits: readonly Init[]) {
  const events = inits.map((init, index) =>
    create(RunEventSchema, { time: timestampFromMs(1_000 + 10 * index), ...init }),
  );
  return treeOf(events.reduce<TreeChanges>(treeAfter, undefined)).nodes;
}

const called = (callId: string, name: string, parentId = ""): Init => ({
  parentId,
  event: { case: "toolCall", value: { callId, name, arguments: { q: "x" } } },
});
const resulted = (callId: string, content: string, success = true): Init => ({
  event: { case: "toolResult", value: { result: { callId, content }, success, durationMs: 7 } },
});
const subtask = (subtaskId: string, callId: string, ended: boolean): Init => ({
  event: {
    case: "subtask",
    value: { subtaskId, callId, title: "T", ended, isError: ended, resultPreview: "r" },
  },
});

test("a call is a node, unfinished until its result", () => {
  expect(nodesAfter(called("a", "search"))).toMatchObject([
    { id: "a", parentId: "", name: "search", argsPreview: '{"q":"x"}', unfinished: true },
  ]);
  expect(nodesAfter(called("a", "search"), resulted("a", "no", false))).toMatchObject([
    { resultPreview: "no", isError: true, durationMs: 7, unfinished: false },
  ]);
});

// Requirement: SUB-11, CHAT-4
test("a single subtask shares the node of its call; parallel subtasks have nodes below their call", () => {
  expect(nodesAfter(called("a", "run_subtask"), subtask("a", "a", false))).toMatchObject([
    { id: "a", title: "T" },
  ]);
  expect(
    nodesAfter(
      called("a", "run_parallel_subtasks"),
      subtask("a/0", "a", false),
      called("b", "search", "a/0"),
      subtask("a/0", "a", true),
    ),
  ).toMatchObject([
    { id: "a", unfinished: true },
    { id: "a/0", parentId: "a", name: "subtask", title: "T", durationMs: 20, isError: true },
    { id: "b", parentId: "a/0" },
  ]);
});

test("the planner is not part of the tree", () => {
  expect(nodesAfter({ ...called("a", "search"), phase: Phase.PLANNER })).toEqual([]);
});

// Requirement: CHAT-4
test("a preview has at most 500 characters and never splits a character", () => {
  expect(Array.from(previewOf("🙂".repeat(600)))).toHaveLength(500);
  expect(previewOf("🙂".repeat(600)).isWellFormed()).toBe(true);
});

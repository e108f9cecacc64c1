import { create } from "@bufbuild/protobuf";
import { GuardAction, GuardVerdictSchema } from "@reeve/contracts/run";
import { ToolCallSchema, ToolResultSchema } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import type { Call } from "../state/frame.ts";
import { newFrame, rootId } from "../state/frame.ts";
import { initialState } from "../state/run-state.ts";
import { noUnits } from "../state/units.ts";
import { withResult } from "./guarded-call.ts";

const refused = create(GuardVerdictSchema, { guard: "g", action: GuardAction.REFUSE });
const passed = create(GuardVerdictSchema, { guard: "g", action: GuardAction.PASS });
const redacted = create(GuardVerdictSchema, {
  guard: "g",
  action: GuardAction.REDACT,
  redactions: [{ text: 0, start: 0, end: 6, label: "x" }],
});

const memory = { "task:c": "secret, and more", "task:c/0": "part", "task:c/1": "secret", own: "o" };

/** The state after a verdict on a result that has a record, an artifact with the whole, and a file. */
function after(verdict: typeof refused, checkedWhole = false) {
  const result = create(ToolResultSchema, {
    callId: "c",
    content: 'secret, "part"',
    structured: { key: "secret" },
    files: [{ artifactId: "art_file" }],
    metadata: { offloadedArtifactId: "art_whole" },
  });
  const call: Call = {
    call: create(ToolCallSchema, { callId: "c", name: "find" }),
    requestedAtMs: 0,
    startedAtMs: 0,
    approval: undefined,
    permission: undefined,
    progressReports: 0,
    questions: [],
    result,
  };
  const opened = newFrame({
    id: rootId,
    depth: 0,
    subtask: undefined,
    tools: new Map(),
    units: noUnits,
  });
  const frame = { ...opened, calls: [call], pendingMemory: new Map(Object.entries(memory)) };
  const state = { ...initialState, offloaded: new Set(["art_whole", "art_other"]) };
  const changed = withResult(state, frame, { callId: "c", guards: [verdict], checkedWhole });
  const { calls, pendingMemory } = changed.frames.get(rootId) ?? frame;
  return { state: changed, result: calls[0]?.result, memory: Object.fromEntries(pendingMemory) };
}

// Requirement: RES-13
test("a result that a guard refuses stays in no record, artifact, file, or memory", () => {
  const { state, result, memory: kept } = after(refused);
  expect(result).toMatchObject({ isError: true, files: [] });
  expect(result?.structured).toBeUndefined();
  expect([...state.offloaded]).toEqual(["art_other"]);
  expect([...state.withheld]).toEqual(["art_whole", "art_file"]);
  expect(JSON.stringify(kept)).not.toContain("secret");
  expect(kept).toMatchObject({ "task:c": result?.content, own: "o" });
});

// Requirement: RES-13
test("a result in which a guard replaces a part keeps only what was checked", () => {
  const { state, result, memory: kept } = after(redacted);
  expect(result?.content).toBe('[redacted: x], "part"');
  expect(result?.structured).toBeUndefined();
  expect(result?.files.map(({ artifactId }) => artifactId)).toEqual(["art_file"]);
  expect([...state.withheld]).toEqual(["art_whole"]);
  expect(JSON.stringify(kept)).not.toContain("secret");
});

// Requirement: RES-13
test("a result that passed leaves in the memory what its guards have checked", () => {
  const { state, memory: kept } = after(passed);
  expect([...state.withheld]).toEqual(["art_whole"]);
  expect(kept).toEqual({ ...memory, "task:c": 'secret, "part"' });
});

// Requirement: RES-13
test("the whole of a result stays readable if its guards have passed the whole", () => {
  const { state, memory: kept } = after(passed, true);
  expect(state.withheld.size).toBe(0);
  expect([...state.offloaded]).toContain("art_whole");
  expect(kept).toEqual(memory);
});

import { create } from "@bufbuild/protobuf";
import { ApprovalState } from "@reeve/contracts/approval";
import { contentDigest } from "@reeve/contracts/digest/content-digest";
import type { BoundContent } from "@reeve/contracts/tool";
import { BoundContentSchema } from "@reeve/contracts/tool";
import { describe, expect, test } from "vitest";
import { PlayedRun } from "../../test/support/run-player.ts";
import { supersede } from "./calls/call-content.ts";
import { executionId } from "./calls/execution-id.ts";
import { gateOf, requestApproval } from "./calls/gate-call.ts";
import { nextEffects, openWaits } from "./next-effects.ts";
import { rootOf } from "./state/run-state.ts";
import { scopeOf } from "./state/frame.ts";

const publish = { name: "publish", pathArguments: ["path"] };
const spec = { hitlTools: ["publish"], approvalPolicy: { allowEditedArguments: true } };
const { APPROVED, PENDING, SUPERSEDED } = ApprovalState;

function contentOf(text: string): BoundContent {
  const files = [{ path: "report.md", state: "file", sha256: text, preview: text }];
  return create(BoundContentSchema, { digest: contentDigest(files), files });
}

function played(): PlayedRun {
  const run = new PlayedRun(spec, { tools: [publish, { name: "search" }] });
  return run.turn({ name: "publish", args: { path: "report.md" } }, { name: "search" });
}

const callOf = (run: PlayedRun) => {
  const [call] = rootOf(run.state).calls;
  if (call === undefined) throw new Error("there is no call");
  return call;
};

/** Does what the effect that inspects the files does. */
function inspected(run: PlayedRun, text: string): PlayedRun {
  const gate = gateOf(run.state, rootOf(run.state), callOf(run));
  if (gate?.kind !== "ask") throw new Error("the call needs no approval");
  const reason = { ...gate, scope: scopeOf(rootOf(run.state)), content: contentOf(text) };
  return run.append([requestApproval(run.state, callOf(run), reason, run.nowMs)]);
}

/** Does what the effect that calls the tool does when the files have changed. */
function changed(run: PlayedRun, text: string): PlayedRun {
  const scope = scopeOf(rootOf(run.state));
  return run.append(supersede(run.state, scope, callOf(run), contentOf(text), run.nowMs));
}

const kinds = (run: PlayedRun) => nextEffects(run.state).map(({ kind }) => kind);

describe("an approval of a call that names files", () => {
  // Requirement: HITL-1
  test("is requested when they are inspected, and meanwhile the call does not start", () => {
    const run = played();
    expect(run.all("approval")).toEqual([]);
    expect(kinds(run)).toEqual(["inspect_call", "call_tool"]);
    expect(run.all("toolCallStarted")).toHaveLength(1);
    inspected(run, "a");
    expect(kinds(run)).toEqual(["call_tool"]);
    expect(run.all("approval")[0]?.approval).toMatchObject({ content: contentOf("a") });
    expect(openWaits(run.state)).toEqual([callOf(run).call.callId]);
  });

  // Requirement: HITL-2
  test("is superseded by one that shows the difference when they have changed", () => {
    const run = changed(inspected(played(), "a").decides(APPROVED), "b");
    const [first, , closed, second] = run.all("approval").map(({ approval }) => approval);
    expect(closed).toMatchObject({ approvalId: first?.approvalId, state: SUPERSEDED });
    expect(second).toMatchObject({
      approvalId: `${first?.approvalId ?? ""}-r2`,
      state: PENDING,
      supersedes: first?.approvalId,
      content: { files: [{ preview: "b", previous: { preview: "a" } }] },
    });
    expect(second?.callDigest).not.toBe(first?.callDigest);
    expect(run.all("toolResult")).toEqual([]);
    expect(kinds(run)).toEqual(["call_tool"]);
    expect(run.state.head.outstandingCalls.has(callOf(run).call.callId)).toBe(false);
    expect(openWaits(run.state)).toEqual([second?.approvalId]);
  });

  test("that was given again executes the call under a new id, and the result is that of the call", () => {
    const run = changed(inspected(played(), "a").decides(APPROVED), "b");
    const { callId } = callOf(run).call;
    run.decides(APPROVED, { callId: `${callId}-r2` });
    expect(kinds(run)).toEqual(["call_tool", "call_tool"]);
    expect(executionId(callOf(run))).toBe(`${callId}-r2`);
    run.result(0, "published");
    expect(run.all("toolResult")[0]?.result).toMatchObject({ callId, content: "published" });
  });

  test("is refused in the end when they change each time", () => {
    const run = inspected(played(), "0").decides(APPROVED);
    const { callId } = callOf(run).call;
    for (let round = 2; round <= 10; round++) {
      changed(run, String(round)).decides(APPROVED, { callId: `${callId}-r${round}` });
    }
    changed(run, "last");
    expect(run.all("toolResult")[0]?.error).toContain("changed after each of 10 approvals");
  });

  test("with edited arguments that name other files is no approval", () => {
    const run = inspected(played(), "a").decides(APPROVED, { edited: { path: "other.md" } });
    expect(run.all("toolResult")[0]?.error).toContain("name other files");
  });
});

import { create } from "@bufbuild/protobuf";
import { ApprovalState } from "@reeve/contracts/approval";
import { contentDigest } from "@reeve/contracts/digest/content-digest";
import type { BoundContent } from "@reeve/contracts/tool";
import { BoundContentSchema } from "@reeve/contracts/tool";
import { describe, expect, test } from "vitest";
import { PlayedRun } from "../../test/support/run-player.ts";
import { supersede } from "./calls/call-content.ts";
import { boundPreviews } from "./calls/bound-previews.ts";
import { executionId } from "./calls/execution-id.ts";
import { gateOf } from "./calls/gate-call.ts";
import { requestApproval } from "./calls/request-approval.ts";
import { nextEffects, openWaits } from "./next-effects.ts";
import { rootOf } from "./state/run-state.ts";
import { bytesOf } from "./state/fact.ts";
import { scopeOf } from "./state/frame.ts";

const publish = { name: "publish", pathArguments: ["path"] };
const spec = { hitlTools: ["publish"], approvalPolicy: { allowEditedArguments: true } };
const { APPROVED, PENDING, SUPERSEDED } = ApprovalState;

function contentOf(text: string): BoundContent {
  const files = [{ path: "report.md", state: "file", sha256: text, preview: text }];
  return create(BoundContentSchema, { digest: contentDigest(files), files });
}

function manyFiles(text: string): BoundContent {
  const files = Array.from({ length: 256 }, (_, at) => ({
    path: `f${at}`,
    sha256: text,
    preview: text.repeat(2_000),
  }));
  return create(BoundContentSchema, { digest: text, files });
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
  return run.append(
    supersede(run.state, rootOf(run.state), callOf(run), contentOf(text), run.nowMs),
  );
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

  test("with edited arguments that name fewer of its files executes the call", () => {
    const run = new PlayedRun(
      { hitlTools: ["run"], approvalPolicy: { allowEditedArguments: true } },
      { tools: [{ name: "run", pathArguments: ["command"] }] },
    );
    run.turn({ name: "run", args: { command: ["cat", "a", "b"] } });
    const gate = gateOf(run.state, rootOf(run.state), callOf(run));
    if (gate?.kind !== "ask") throw new Error("the call needs no approval");
    const files = ["cat", "a", "b"].map((path) => ({ path, state: "absent", sha256: "" }));
    const content = create(BoundContentSchema, { digest: contentDigest(files), files });
    const reason = { ...gate, scope: scopeOf(rootOf(run.state)), content };
    run.append([requestApproval(run.state, callOf(run), reason, run.nowMs)]);
    run.decides(APPROVED, { edited: { command: ["cat", "b"] } });
    expect(run.all("toolResult")).toEqual([]);
    expect(kinds(run)).toEqual(["call_tool"]);
  });

  test("shows parts of its files that fit into the log beside the approval that it supersedes", () => {
    const run = played();
    const gate = gateOf(run.state, rootOf(run.state), callOf(run));
    if (gate?.kind !== "ask") throw new Error("the call needs no approval");
    const scope = scopeOf(rootOf(run.state));
    const reason = { ...gate, scope, content: boundPreviews(manyFiles("é")) };
    run.append([requestApproval(run.state, callOf(run), reason, run.nowMs)]).decides(APPROVED);
    const facts = supersede(run.state, rootOf(run.state), callOf(run), manyFiles("ü"), run.nowMs);
    expect(facts).toHaveLength(2);
    expect(facts.map(bytesOf).every((bytes) => bytes < 128 * 1024)).toBe(true);
    run.append(facts);
    const files = run.all("approval").at(-1)?.approval?.content?.files ?? [];
    expect(files[0]?.preview).toBe("ü".repeat(62));
    expect(files[0]?.previous?.preview).toBe("é".repeat(62));
  });

  test("is not requested again if both requests are too large for the log", () => {
    const run = new PlayedRun(spec, { tools: [publish] });
    run.turn({ name: "publish", args: { path: "report.md", note: "n".repeat(500_000) } });
    inspected(run, "a").decides(APPROVED);
    changed(run, "b");
    expect(run.all("approval").at(-1)?.approval?.state).toBe(SUPERSEDED);
    expect(run.all("toolResult")[0]?.error).toContain("another approval would be too large");
  });
});

describe("the files of a call", () => {
  const write = { name: "write", parallelSafe: false };
  const held = { ...publish, parallelSafe: false };

  test("are inspected when the calls before it have run, which may change them", () => {
    const run = new PlayedRun(spec, { tools: [write, held] });
    run.turn({ name: "write" }, { name: "publish", args: { path: "report.md" } });
    expect(kinds(run)).toEqual(["call_tool"]);
    run.result(0, "written");
    expect(kinds(run)).toEqual(["inspect_call"]);
  });

  test("are inspected when the calls before it have been decided and run", () => {
    const run = new PlayedRun(spec, { tools: [held] });
    const call = { name: "publish", args: { path: "report.md" } };
    run.turn(call, call);
    expect(kinds(run)).toEqual(["inspect_call"]);
    inspected(run, "a");
    expect(kinds(run)).toEqual([]);
    run.decides(APPROVED).result(0, "published");
    expect(kinds(run)).toEqual(["inspect_call"]);
  });

  test("are inspected although calls that may run beside it wait for their approvals", () => {
    const run = new PlayedRun(
      { ...spec, hitlTools: ["publish", "search"] },
      { tools: [held, { name: "search" }] },
    );
    run.turn({ name: "search" }, { name: "publish", args: { path: "report.md" } });
    expect(kinds(run)).toEqual(["inspect_call"]);
  });
});

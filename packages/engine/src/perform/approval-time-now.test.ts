import { parsePolicyFile } from "@reeve/agent/policy/policy-file";
import { Role } from "@reeve/contracts/access/role";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { ApprovalPolicySchema } from "@reeve/contracts/agent";
import {
  ApprovalSchema,
  ApprovalState,
  DecisionSchema,
  VoteSchema,
} from "@reeve/contracts/approval";
import { RunStatus } from "@reeve/contracts/run";
import { approvalsOf, emptyHead, foldHead } from "@reeve/run/head/run-head";
import { describe, expect, test } from "vitest";
import { callingModel } from "../../test/support/models.ts";
import { PlayedRun } from "../../test/support/run-player.ts";
import { expectWhole, resultsOf, WorkerBench } from "../../test/support/worker-bench.ts";

type Policy = Exclude<MessageInitShape<typeof ApprovalPolicySchema>, { $typeName: string }>;
type Glass = Pick<MessageInitShape<typeof DecisionSchema>, "breakGlass" | "stepUp">;

const startedBy = { startedByRoles: [Role.RUNNER], hasPolicy: true };
const minute = 60_000;
const slow: Policy = { waits: [{ wait: { seconds: 60n } }] };

/** Drives a run until its call waits, and approves it after a time, as a service without the policy does. */
async function approvedAfter(
  waitedMs: number,
  policy: string,
  approvalPolicy: Policy = {},
  decision: Glass = {},
): Promise<WorkerBench> {
  const bench = new WorkerBench(callingModel([["count", "{}"]], () => undefined));
  bench.policy = parsePolicyFile("rules: []", "policy.yaml");
  const spec = { hitlTools: ["count"], approvalPolicy };
  await (await bench.create(spec, startedBy)).drive("w");
  const rules = policy.startsWith("rules:") ? "" : "rules: []\n";
  bench.policy = parsePolicyFile(`${rules}${policy}`, "policy.yaml");
  const [pending] = approvalsOf(foldHead(emptyHead, await bench.events()));
  const requestedMs = pending?.requestedAt ? timestampMs(pending.requestedAt) : 0;
  const decidedAt = timestampFromMs(requestedMs + waitedMs);
  const decided = create(DecisionSchema, { approved: true, decidedAt, ...decision });
  await bench.decide(ApprovalState.APPROVED, undefined, decided);
  await bench.drive("w2", 2);
  expectWhole(await bench.events(), RunStatus.COMPLETED);
  return bench;
}

const freeze = `approvals: { freezes: [{ name: long, from: "1970-01-01T00:00:00Z", until: "2999-01-01T00:00:00Z" }] }`;
const wait = "approvals: { waits: [{ name: slow, wait: 1m }] }";

const vote = (decidedBy: string, decidedMs: number) => ({
  decision: { approved: true, decidedBy, decidedAt: timestampFromMs(decidedMs) },
  countsFor: ["1"],
});

describe("a call that was approved too early, by a service that does not know the policy,", () => {
  test.each([
    ["in a freeze", freeze, 0, 'in the freeze "long"'],
    ["in the wait of the operator", wait, minute - 1, "before its wait had ended"],
  ])("is not executed: %s", async (_, policy, waitedMs, why) => {
    const bench = await approvedAfter(waitedMs, policy);
    expect(bench.executed).toEqual([]);
    expect((await resultsOf(bench))[0]).toContain(why);
  });

  test("is not executed: in the wait of its agent", async () => {
    const bench = await approvedAfter(minute - 1, "", slow);
    expect(bench.executed).toEqual([]);
    expect((await resultsOf(bench))[0]).toContain("before the wait that its agent requires");
    expect((await approvedAfter(minute, "", slow)).executed).toHaveLength(1);
  });

  test("is not executed: in a wait of its agent that its request did not record", async () => {
    const requestedAt = timestampFromMs(0);
    const early = create(DecisionSchema, { decidedAt: timestampFromMs(minute - 1) });
    for (const [decision, executed] of [
      [early, false],
      [create(DecisionSchema, { decidedAt: timestampFromMs(minute) }), true],
    ] as const) {
      const run = new PlayedRun({ hitlTools: ["search"], approvalPolicy: slow });
      run.turn({ name: "search" });
      const request = run.all("approval")[0]?.approval;
      if (request === undefined) throw new Error("no approval was requested");
      const { decidableAfter: _, ...older } = request;
      const approval = { ...older, requestedAt, state: ApprovalState.APPROVED, decision };
      run.write({ case: "approval", value: { approval } });
      expect(run.all("toolCallStarted")).toHaveLength(executed ? 1 : 0);
    }
  });

  test("is not executed if a vote that it needs came within the wait", async () => {
    const people = ["ann", "bob"];
    const approvalPolicy = { ...slow, alternatives: [{ people, approvals: 2 }] };
    for (const firstMs of [minute - 1, minute]) {
      const run = new PlayedRun({ hitlTools: ["search"], approvalPolicy });
      run.turn({ name: "search" });
      const request = run.all("approval")[0]?.approval;
      if (request === undefined) throw new Error("no approval was requested");
      const { decidableAfter: _, ...older } = request;
      const votes = [vote("ann", firstMs), vote("bob", minute)];
      const approval = create(ApprovalSchema, {
        ...older,
        requestedAt: timestampFromMs(0),
        state: ApprovalState.APPROVED,
        alternatives: request.alternatives.map((each) => ({ ...each, approvalsGiven: 2 })),
        votes: votes.map((each) => create(VoteSchema, each)),
        decision: create(DecisionSchema, votes[1]?.decision),
      });
      run.write({ case: "approval", value: { approval } });
      expect(run.all("toolCallStarted")).toHaveLength(firstMs === minute ? 1 : 0);
    }
  });

  test("is executed if it was approved in time", async () => {
    expect((await approvedAfter(minute, wait)).executed).toHaveLength(1);
  });
});

describe("a call that was approved by break-glass", () => {
  const glass = { breakGlass: { people: ["lea"] } };
  const alternatives = [{ groups: ["finance"], approvals: 2 }];
  const ofAgent = { breakGlass: { rule: "" } };
  const ofOperator = { breakGlass: { rule: "incidents" } };

  test("is executed in spite of the votes and waits of its agent, if that permits it", async () => {
    const spec = { ...slow, ...glass, alternatives };
    expect((await approvedAfter(0, "", spec, ofAgent)).executed).toHaveLength(1);
    const refused = await approvedAfter(0, "", { ...slow, alternatives }, ofAgent);
    expect(refused.executed).toEqual([]);
    expect((await resultsOf(refused))[0]).toContain("which its agent does not permit");
  });

  test("is executed in spite of waits and freezes of the operator only by the operator's policy", async () => {
    const entry = ", break_glass: [{ name: incidents, tools: [count], people: [lea] }] }";
    for (const policy of [freeze, wait]) {
      const spec = { ...slow, ...glass };
      const permitting = policy.replace(/ }$/, entry);
      expect((await approvedAfter(0, permitting, spec, ofOperator)).executed).toHaveLength(1);
      expect((await approvedAfter(0, permitting, spec, ofAgent)).executed).toEqual([]);
    }
  });

  test("is not executed under an entry that the operator's policy does not have, or not for its tool", async () => {
    const spec = { ...slow, ...glass };
    const other = "approvals: { break_glass: [{ name: incidents, tools: [x], people: [lea] }] }";
    for (const policy of ["", wait, freeze, other]) {
      const refused = await approvedAfter(minute, policy, spec, ofOperator);
      expect(refused.executed).toEqual([]);
      expect((await resultsOf(refused))[0]).toContain('by break-glass under "incidents"');
    }
  });

  test("is not executed if a rule denies it", async () => {
    const denied = `rules: [{ name: no, permission: { rules: [{ tool: count, behavior: deny }] } }]`;
    const bench = await approvedAfter(0, denied, glass, ofOperator);
    expect(bench.executed).toEqual([]);
  });
});

describe("a call that needs a passkey, and was approved by a service that does not know that,", () => {
  const stepUp = { credentialId: "key" };
  const ofAgent: Policy = { stepUp: { tools: ["count"] } };
  const ofOperator = "approvals: { step_up: [{ name: all, tools: [count] }] }";

  test("is not executed without one, by the policy of its agent", async () => {
    const refused = await approvedAfter(0, "", ofAgent);
    expect(refused.executed).toEqual([]);
    expect((await resultsOf(refused))[0]).toContain("without the passkey that its agent requires");
    const [pending] = approvalsOf(foldHead(emptyHead, await refused.events()));
    expect(pending).toMatchObject({ needsPasskey: true });
    const glass = { breakGlass: { rule: "" } };
    const permitting = { ...ofAgent, breakGlass: { people: ["lea"] } };
    expect((await approvedAfter(0, "", permitting, glass)).executed).toEqual([]);
    expect((await approvedAfter(0, "", ofAgent, { stepUp })).executed).toHaveLength(1);
  });

  test("is not executed without one, by the operator's policy of now", async () => {
    const refused = await approvedAfter(0, ofOperator);
    expect(refused.executed).toEqual([]);
    expect((await resultsOf(refused))[0]).toContain("which the operator's policy requires");
    expect((await approvedAfter(0, ofOperator, {}, { stepUp })).executed).toHaveLength(1);
  });

  test("is not executed if one of the votes for it came without one", async () => {
    const people = ["ann", "bob"];
    const approvalPolicy = {
      stepUp: { tools: ["search"] },
      alternatives: [{ people, approvals: 2 }],
    };
    for (const first of [{}, { stepUp }]) {
      const run = new PlayedRun({ hitlTools: ["search"], approvalPolicy });
      run.turn({ name: "search" });
      const request = run.all("approval")[0]?.approval;
      if (request === undefined) throw new Error("no approval was requested");
      const decision = create(DecisionSchema, { ...vote("bob", 0).decision, stepUp });
      const votes = [
        { decision: { ...vote("ann", 0).decision, ...first }, countsFor: ["1"] },
        { decision, countsFor: ["1"] },
      ];
      const approval = create(ApprovalSchema, {
        ...request,
        state: ApprovalState.APPROVED,
        alternatives: request.alternatives.map((each) => ({ ...each, approvalsGiven: 2 })),
        votes: votes.map((each) => create(VoteSchema, each)),
        decision,
      });
      run.write({ case: "approval", value: { approval } });
      expect(run.all("toolCallStarted")).toHaveLength("stepUp" in first ? 1 : 0);
    }
  });
});

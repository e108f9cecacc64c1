import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ApprovalState } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { RunStatus } from "@reeve/contracts/run";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import type { Failure } from "@reeve/platform/failure";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ApprovalsBench } from "./support/approvals-bench.ts";
import { openApprovalsBench } from "./support/approvals-bench.ts";

const slow = { timeout: 20_000 };

/** Nothing of the agent `frozen` can be approved, except in an emergency. */
const policy = `
rules: []
approvals:
  freezes: [{ name: forever, agents: [frozen], from: 2000-01-01T00:00:00Z, until: 2999-01-01T00:00:00Z }]
  break_glass: [{ name: incidents, agents: [frozen], groups: [incident-response] }]`;

let bench: ApprovalsBench;

beforeAll(async () => {
  bench = await openApprovalsBench(policy);
});
afterAll(() => bench[Symbol.asyncDispose]());

/** Returns the states of an approval in the log of its run, in order. */
async function statesOf(approvalId: string): Promise<readonly ApprovalState[]> {
  return (await bench.eventsOf(approvalId)).flatMap(({ event }) =>
    event.case === "approval" && event.value.approval ? [event.value.approval.state] : [],
  );
}

const refusalOf = (call: Promise<unknown>): Promise<Failure | undefined> =>
  call.then(() => undefined, failureFrom);

// Requirement: HITL-7
test("of twenty people at two services exactly one decides, and the others learn who did", async () => {
  const approvalId = await bench.park();
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, async (_, turn) => {
      const approvals = bench.as(`person-${turn}`)[turn % 2 === 0 ? 0 : 1];
      const decision = { approvalId, approved: turn % 3 === 0, decisionId: `d${turn}` };
      return approvals.decideApproval(decision).then(
        ({ approval }) => approval?.decision?.decidedBy ?? "",
        (error: unknown) => failureFrom(error),
      );
    }),
  );
  const winners = outcomes.filter((outcome) => typeof outcome === "string");
  expect(winners).toHaveLength(1);
  for (const outcome of outcomes) {
    if (typeof outcome === "string") continue;
    expect(outcome).toMatchObject({ kind: "precondition", reason: ErrorReason.APPROVAL_CLOSED });
    expect(outcome.message.endsWith(`by ${winners[0]}`)).toBe(true);
  }
  expect(await statesOf(approvalId)).toHaveLength(2);
});

// Requirement: HITL-7
test("a hundred deciders at two services reach one outcome across a kill of the store", async () => {
  const alternatives = [{ name: "1", groups: ["security"], approvals: 3, denials: 3 }];
  const approvalId = await bench.park({ alternatives, excludedSubjects: ["person-0"] });
  const vote = (turn: number) => {
    const groups = turn % 5 === 0 ? ["sales"] : ["security"];
    const approvals = bench.as(`person-${turn}`, "acme", groups)[turn % 2 === 0 ? 0 : 1];
    return approvals.decideApproval({ approvalId, approved: true, decisionId: `d${turn}` }).then(
      ({ approval }) => approval?.state,
      (error: unknown) => failureFrom(error),
    );
  };
  expect(await vote(0)).toMatchObject({ kind: "denied" });
  expect(await vote(1)).toBe(ApprovalState.PENDING);
  expect(await vote(1)).toBe(ApprovalState.PENDING);
  await bench.restartNats();
  const outcomes = await Promise.all(Array.from({ length: 99 }, (_, turn) => vote(turn + 2)));
  const kinds = outcomes.map((outcome) => {
    if (!(outcome instanceof Error)) return outcome;
    const isLoser = outcome.reason === ErrorReason.APPROVAL_CLOSED;
    return isLoser ? /it was approved by person-/.exec(outcome.message)?.[0] : outcome.kind;
  });
  const countOf = (wanted: unknown) => kinds.filter((kind) => kind === wanted).length;
  const { PENDING, APPROVED } = ApprovalState;
  expect([countOf(PENDING), countOf(APPROVED)]).toEqual([1, 1]);
  // The others are told who approved, or that they are in no group that may.
  expect(countOf("it was approved by person-") + countOf("denied")).toBe(97);
  const approvals = (await bench.eventsOf(approvalId)).flatMap(({ event }) =>
    event.case === "approval" && event.value.approval ? [event.value.approval] : [],
  );
  expect(approvals.map(({ votes }) => votes.length)).toEqual([0, 1, 2, 3]);
  const voters = approvals.at(-1)?.votes.map(({ decision }) => decision?.decidedBy);
  expect(new Set(voters).size).toBe(3);
  const [reader] = bench.as("ann");
  await expect
    .poll(async () => (await reader.getApproval({ approvalId })).approval, { timeout: 20_000 })
    .toMatchObject({ state: ApprovalState.APPROVED, revision: 3 });
});

// Requirement: HITL-7
test("people reject at two services by a threshold, and the person who started the run has no vote", async () => {
  const alternatives = [{ name: "1", groups: ["security"], approvals: 2, denials: 2 }];
  const approvalId = await bench.park({
    alternatives,
    excludedSubjects: ["ann"],
    requestedBy: "ann",
  });
  const [ann] = bench.as("ann", "acme", ["security"]);
  const [, eve] = bench.as("eve", "acme", ["security"]);
  const [bob] = bench.as("bob", "acme", ["security"]);
  const rejection = { approvalId, approved: false };
  const refused = failureFrom(await ann.decideApproval(rejection).catch((error: unknown) => error));
  expect(refused).toMatchObject({ kind: "denied" });
  expect(refused.message).toContain("ann started the run");
  expect((await eve.decideApproval(rejection)).approval?.state).toBe(ApprovalState.PENDING);
  const approval = { approvalId, approved: true };
  const [, dan] = bench.as("dan", "acme", ["security"]);
  expect((await dan.decideApproval(approval)).approval?.state).toBe(ApprovalState.PENDING);
  expect((await bob.decideApproval(rejection)).approval).toMatchObject({
    state: ApprovalState.REJECTED,
    alternatives: [{ approvalsGiven: 1, denialsGiven: 2 }],
  });
});

test("a decision and the end of its run race, and exactly one wins", async () => {
  const approvalId = await bench.park();
  const [approvals] = bench.as("ann");
  const ending = bench.append(approvalId, {
    case: "status",
    value: { status: RunStatus.CANCELLED },
  });
  const [refusal, ended] = await Promise.all([
    refusalOf(approvals.decideApproval({ approvalId, approved: true })),
    ending.then(
      () => true,
      () => false,
    ),
  ]);
  const kinds = (await bench.eventsOf(approvalId)).slice(3).map(({ event }) => event.case);
  expect(kinds).toEqual([
    ...(refusal === undefined ? ["approval"] : []),
    ...(ended ? ["status"] : []),
  ]);
  expect(refusal?.message ?? "its run has ended").toMatch(/its run has ended$/);
});

test("an approval that two services expire has one expiry, and stays closed", async () => {
  const expiresAt = timestampFromMs(Date.now() + 500);
  const approvalId = await bench.park({ expiresAt });
  await expect
    .poll(() => statesOf(approvalId), { timeout: 20_000 })
    .toEqual([ApprovalState.PENDING, ApprovalState.TIMED_OUT]);
  for (const approvals of bench.as("ann")) {
    const refusal = await refusalOf(approvals.decideApproval({ approvalId, approved: true }));
    expect(refusal).toMatchObject({ kind: "precondition", reason: ErrorReason.APPROVAL_CLOSED });
  }
  expect(await statesOf(approvalId)).toHaveLength(2);
  const expiry = `reeve/expiry approval.expire ${approvalId}`;
  await expect.poll(() => bench.trail(), { timeout: 20_000 }).toContain(expiry);
  expect((await bench.trail()).filter((each) => each === expiry)).toHaveLength(1);
});

test("an approval survives a restart of its store, after which it can be decided and expire", async () => {
  const lasting = await bench.park();
  const expiring = await bench.park({ expiresAt: timestampFromMs(Date.now() + 300) });
  await bench.restartNats();
  const [approvals, others] = bench.as("ann");
  const decision = { approvalId: lasting, approved: true, decisionId: "d" };
  const first = await approvals.decideApproval(decision);
  expect(await others.decideApproval(decision)).toEqual(first);
  await expect
    .poll(() => statesOf(expiring), { timeout: 20_000 })
    .toEqual([ApprovalState.PENDING, ApprovalState.TIMED_OUT]);
});

test("a watch at one service has the decisions of the other", async () => {
  const [approvals, others] = bench.as("ann");
  const approvalId = await bench.park();
  const runId = approvalId.split("-", 1)[0] ?? "";
  const seen: ApprovalState[] = [];
  for await (const message of approvals.watchApprovals({ runId })) {
    seen.push(...message.approvals.map(({ state }) => state));
    if (seen.length === 1) await others.decideApproval({ approvalId, approved: false });
    if (seen.length === 2) break;
  }
  expect(seen).toEqual([ApprovalState.PENDING, ApprovalState.REJECTED]);
});

test("an idle watch sends heartbeats", async () => {
  const [approvals] = bench.as("eve", "globex");
  for await (const message of approvals.watchApprovals({})) {
    expect(message.approvals).toEqual([]);
    break;
  }
});

test("another tenant finds no approval by any method", async () => {
  const approvalId = await bench.park();
  const [approvals] = bench.as("gus", "globex");
  const refusal = { kind: "not_found", reason: ErrorReason.APPROVAL_NOT_FOUND };
  expect(await refusalOf(approvals.getApproval({ approvalId }))).toMatchObject(refusal);
  const decision = { approvalId, approved: true };
  expect(await refusalOf(approvals.decideApproval(decision))).toMatchObject(refusal);
  expect((await approvals.listApprovals({ includeClosed: true })).approvals).toEqual([]);
  expect(await statesOf(approvalId)).toEqual([ApprovalState.PENDING]);
});

test.each(["*", ">", "a.b", "run_00000001", "run_*-2-0", "run_00000001-2-0.x", "\0", "🙂"])(
  "%j is not found",
  async (approvalId) => {
    const [approvals] = bench.as("ann");
    const refusal = { kind: "not_found", reason: ErrorReason.APPROVAL_NOT_FOUND };
    expect(await refusalOf(approvals.getApproval({ approvalId }))).toMatchObject(refusal);
    expect(await refusalOf(approvals.decideApproval({ approvalId, approved: true }))).toMatchObject(
      refusal,
    );
  },
);

test("edited arguments over the limit of a log are refused, and the approval stays pending", async () => {
  const approvalId = await bench.park({ allowEditedArguments: true });
  const [approvals] = bench.as("ann");
  const editedArguments = { text: "x".repeat(1_200_000) };
  const decision = { approvalId, approved: true, editedArguments };
  expect(await refusalOf(approvals.decideApproval(decision))).toMatchObject({
    kind: "exhausted",
    reason: ErrorReason.TOO_LARGE,
  });
  expect(await statesOf(approvalId)).toEqual([ApprovalState.PENDING]);
});

test("both services refuse to approve in a freeze or a wait, show both, and let people reject", async () => {
  const decidableAfter = timestampFromMs(Date.parse("2999-01-01T00:00:00Z"));
  const [frozen, waiting] = await Promise.all([
    bench.park({ agentId: "frozen", requestedAt: timestampFromMs(Date.now()) }),
    bench.park({ decidableAfter, requestedAt: timestampFromMs(Date.now()) }),
  ]);
  for (const approvals of bench.as("ada")) {
    const early = { kind: "precondition", reason: ErrorReason.APPROVAL_TOO_EARLY };
    const decide = (approvalId: string) =>
      refusalOf(approvals.decideApproval({ approvalId, approved: true }));
    expect(await decide(frozen)).toMatchObject({ ...early, metadata: { freeze: "forever" } });
    expect(await decide(waiting)).toMatchObject({
      ...early,
      metadata: { decidable_after: "2999-01-01T00:00:00.000Z" },
    });
  }
  const [first, second] = bench.as("ada");
  const inbox = async (approvalId: string) => (await first.getApproval({ approvalId })).approval;
  await expect.poll(async () => (await inbox(frozen))?.freeze?.name, slow).toBe("forever");
  await expect
    .poll(async () => (await inbox(waiting))?.decidableAfter, slow)
    .toEqual(decidableAfter);
  const rejected = await second.decideApproval({ approvalId: frozen, approved: false });
  expect(rejected.approval).toMatchObject({ state: ApprovalState.REJECTED });
  await first.decideApproval({ approvalId: waiting, approved: false });
  expect(await statesOf(waiting)).toEqual([ApprovalState.PENDING, ApprovalState.REJECTED]);
});

test("two services escalate an approval once, and record it", async () => {
  const onCall = { name: "on-call", groups: ["on-call"], approvals: 1, denials: 1 };
  const approvalId = await bench.park({
    alternatives: [{ name: "1", groups: ["finance"], approvals: 1, denials: 1 }],
    escalations: [{ dueAt: timestampFromMs(Date.now() - 1_000), alternative: onCall }],
  });
  const escalation = `reeve/escalation approval.escalate ${approvalId}`;
  await expect.poll(() => bench.trail(), slow).toContain(escalation);
  const [first] = bench.as("oncall", "acme", ["on-call"]);
  const { approval } = await first.decideApproval({ approvalId, approved: true });
  expect(approval).toMatchObject({ state: ApprovalState.APPROVED, revision: 2 });
  const { PENDING, APPROVED } = ApprovalState;
  expect(await statesOf(approvalId)).toEqual([PENDING, PENDING, APPROVED]);
  expect((await bench.trail()).filter((line) => line === escalation)).toHaveLength(1);
});

test("members of a group approve in a freeze by break-glass, with a reason, and nobody else does", async () => {
  const approvalId = await bench.park({
    agentId: "frozen",
    requestedAt: timestampFromMs(Date.now()),
    alternatives: [{ name: "1", groups: ["finance"], approvals: 3, denials: 1 }],
  });
  const reason = "The payment system is down, see INC-42.";
  const group = ["incident-response"];
  const breaking = (subject: string, groups: readonly string[], why: string) =>
    bench
      .as(subject, "acme", groups)[1]
      .decideApproval({ approvalId, approved: true, breakGlass: true, reason: why });
  expect(await refusalOf(breaking("ann", group, reason))).toMatchObject({ kind: "denied" });
  expect(await refusalOf(breaking("bob", ["finance"], reason))).toMatchObject({ kind: "denied" });
  expect(await refusalOf(breaking("bob", group, "now"))).toMatchObject({ kind: "invalid" });
  const { approval } = await breaking("bob", group, reason);
  expect(approval).toMatchObject({
    state: ApprovalState.APPROVED,
    decision: { decidedBy: "bob", reason, breakGlass: { rule: "incidents", freeze: "forever" } },
  });
});

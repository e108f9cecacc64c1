import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { parsePolicyFile } from "@reeve/agent/policy/policy-file";
import { ApprovalState, DecideApprovalRequestSchema, GrantScope } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { QuestionSchema } from "@reeve/contracts/tool";
import { emptyTail } from "@reeve/jetstream/log/port";
import { decideApproval } from "@reeve/run/approvals/decide-approval";
import { describe, expect, test } from "vitest";
import type { ParkedStart } from "../../test/support/parked-run.ts";
import { approvalId, noon, parkedRun, runKey } from "../../test/support/parked-run.ts";

const never = new AbortController().signal;
const reason = "The payment system is down, see INC-42.";
const request = (more = {}) =>
  create(DecideApprovalRequestSchema, {
    approvalId,
    approved: true,
    breakGlass: true,
    reason,
    ...more,
  });
const lea = { tenant: runKey.tenant, subject: "lea", groups: new Set<string>() };
const oncall = { ...lea, subject: "oscar", groups: new Set(["on-call"]) };

const policy = parsePolicyFile(
  `
rules: []
approvals:
  freezes: [{ name: lunch, from: "2026-01-01T12:00:00Z", until: "2026-01-01T13:00:00Z" }]
  break_glass: [{ name: incidents, tools: [pay], groups: [on-call], min_reason_length: 10 }]`,
  "policy.yaml",
);
const frozen = { times: () => policy.approvals };

/** A call of `pay` that two people of finance approve after an hour, and lea in an emergency; ann started its run. */
async function waiting(approval = {}, start: ParkedStart = {}) {
  return await parkedRun(
    {
      agentId: "buyer",
      call: { name: "pay" },
      requestedAt: timestampFromMs(noon),
      decidableAfter: timestampFromMs(noon + 3_600_000),
      alternatives: [{ name: "1", groups: ["finance"], approvals: 2, denials: 1 }],
      ...approval,
    },
    [],
    {
      startedBy: "ann",
      agentAuthor: "eve",
      spec: { approvalPolicy: { breakGlass: { people: ["lea", "ann"] } } },
      ...start,
    },
  );
}

describe("break-glass by the agent's policy", () => {
  test("approves alone and at once, and is recorded as such", async () => {
    const ports = await waiting();
    const decided = await decideApproval(ports, lea, request(), never);
    expect(decided).toMatchObject({
      state: ApprovalState.APPROVED,
      decision: {
        decidedBy: "lea",
        reason,
        breakGlass: {
          rule: "",
          freeze: "",
          withoutVotes: true,
          decidableAfter: timestampFromMs(noon + 3_600_000),
        },
      },
    });
    const { events } = await ports.log.read(runKey, emptyTail, never);
    expect(events.at(-1)?.event).toMatchObject({ case: "approval", value: { approval: decided } });
  });

  test("does not override a freeze of the operator", async () => {
    const ports = { ...(await waiting()), ...frozen };
    await expect(decideApproval(ports, lea, request(), never)).rejects.toMatchObject({
      kind: "precondition",
      reason: ErrorReason.APPROVAL_TOO_EARLY,
      metadata: { freeze: "lunch" },
    });
  });

  test("is refused without the flag, and without a reason that is long enough", async () => {
    const ports = await waiting();
    const plain = decideApproval(ports, lea, request({ breakGlass: false }), never);
    await expect(plain).rejects.toMatchObject({ reason: ErrorReason.APPROVAL_TOO_EARLY });
    for (const short of ["", "because", `  ${"x".repeat(19)}  `]) {
      const hasty = decideApproval(ports, lea, request({ reason: short }), never);
      await expect(hasty).rejects.toMatchObject({
        kind: "invalid",
        violations: [{ field: "reason", reason: "TOO_SHORT" }],
      });
    }
  });

  test.each([
    ["whom no policy names", { ...lea, subject: "mallory" }, {}],
    ["who started the run", { ...lea, subject: "ann" }, {}],
    ["if it is not known who started the run", lea, { startedBy: "" }],
    [
      "who saved the agent, if the policy excludes the author",
      { ...lea, subject: "eve" },
      { spec: { approvalPolicy: { excludeAuthor: true, breakGlass: { people: ["eve"] } } } },
    ],
  ])("is refused to a person %s", async (_, decider, start) => {
    const refused = decideApproval(await waiting({}, start), decider, request(), never);
    await expect(refused).rejects.toMatchObject({ kind: "denied" });
  });

  test("is permitted to the person who started the run if the policy says so", async () => {
    const breakGlass = { people: ["ann"], allowRequester: true };
    const excluding = { excludedSubjects: ["ann"] };
    const ports = await waiting(excluding, { spec: { approvalPolicy: { breakGlass } } });
    const decided = await decideApproval(ports, { ...lea, subject: "ann" }, request(), never);
    expect(decided.state).toBe(ApprovalState.APPROVED);
  });

  test.each([
    ["a rejection", {}, { approved: false }],
    ["a question", { question: create(QuestionSchema, { questionId: "q" }) }, {}],
    ["a grant", {}, { grant: { scope: GrantScope.RUN, rule: "pay" } }],
  ])("is refused for %s", async (_, approval, more) => {
    const refused = decideApproval(await waiting(approval), lea, request(more), never);
    await expect(refused).rejects.toMatchObject({
      kind: "invalid",
      violations: [{ field: "break_glass" }],
    });
  });

  test("opens nothing that is closed, and repeated with its id returns the first answer", async () => {
    const ports = await waiting({ expiresAt: timestampFromMs(noon + 60_000) });
    const first = await decideApproval(ports, lea, request({ decisionId: "d1" }), never);
    const again = await decideApproval(ports, lea, request({ decisionId: "d1" }), never);
    expect(again).toEqual(first);
    const closed = { reason: ErrorReason.APPROVAL_CLOSED };
    const other = decideApproval(ports, lea, request({ decisionId: "d2" }), never);
    await expect(other).rejects.toMatchObject(closed);
    const expired = await waiting({ expiresAt: timestampFromMs(noon + 60_000) });
    await expired.clock.advance(60_000);
    await expect(decideApproval(expired, lea, request(), never)).rejects.toMatchObject(closed);
  });

  test("is no repetition of a vote with the same id and reason", async () => {
    const alternatives = [{ name: "1", people: ["lea", "bob"], approvals: 2, denials: 1 }];
    const ports = await waiting({ alternatives, decidableAfter: timestampFromMs(noon) });
    const vote = request({ breakGlass: false, decisionId: "d1" });
    expect((await decideApproval(ports, lea, vote, never)).state).toBe(ApprovalState.PENDING);
    const broken = await decideApproval(ports, lea, request({ decisionId: "d1" }), never);
    expect(broken.state).toBe(ApprovalState.APPROVED);
  });
});

describe("break-glass by the operator's policy", () => {
  test("approves in a freeze, and names the entry and the freeze", async () => {
    const ports = { ...(await waiting()), ...frozen };
    const decided = await decideApproval(ports, oncall, request(), never);
    expect(decided).toMatchObject({
      state: ApprovalState.APPROVED,
      decision: { breakGlass: { rule: "incidents", freeze: "lunch", withoutVotes: true } },
    });
  });

  test("asks for a reason that is long enough for one of the entries that permit it", async () => {
    const both = { ...oncall, subject: "lea" };
    const strict = parsePolicyFile(
      "rules: []\napprovals:\n  break_glass: [{ name: strict, people: [lea], min_reason_length: 40 }, { name: loose, groups: [on-call], min_reason_length: 30 }]",
      "policy.yaml",
    );
    const given = async (length: number) => {
      const ports = { ...(await waiting()), times: () => strict.approvals };
      return await decideApproval(ports, both, request({ reason: "x".repeat(length) }), never);
    };
    const ruleOf = async (length: number) => (await given(length)).decision?.breakGlass?.rule;
    expect(await ruleOf(40)).toBe("strict");
    expect(await ruleOf(30)).toBe("loose");
    expect(await ruleOf(20)).toBe("");
    await expect(given(19)).rejects.toThrow("at least 20 characters");
  });

  test("is for the calls that its entry selects", async () => {
    const ports = { ...(await waiting({ call: { name: "mail" } })), ...frozen };
    const refused = decideApproval(ports, oncall, request(), never);
    await expect(refused).rejects.toMatchObject({ kind: "denied" });
  });
});

import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Approval } from "@reeve/contracts/approval";
import {
  ApprovalState,
  BreakGlassUseSchema,
  ReviewerVoteSchema,
  StepUpSchema,
} from "@reeve/contracts/approval";
import { contradictions } from "@reeve/run/receipts/contradictions";
import { expect, test } from "vitest";
import { decidedCall } from "../../test/support/decided-call.ts";
import { receiptIn } from "../../test/support/receipts.ts";
import { storedLog } from "../../test/support/stored-log.ts";

test("a receipt that contradicts itself says so", async () => {
  const { receipt } = await receiptIn(await storedLog(decidedCall(), [2]));
  const { decisions, result } = receipt;
  expect(contradictions({ ...receipt, decisions: decisions.slice(0, 2) })).toMatchObject([
    expect.stringContaining("without the approval"),
  ]);
  const approvals = receipt.approvals.map((each) => ({ ...each, state: ApprovalState.REJECTED }));
  expect(contradictions({ ...receipt, approvals })).toMatchObject([
    expect.stringContaining("does not permit it"),
  ]);
  const other = result && { ...result, boundContentDigest: "c".repeat(64) };
  expect(contradictions({ ...receipt, result: other })).toMatchObject([
    expect.stringContaining("executed with the files"),
  ]);
});

test("a receipt whose decision did not permit the call says so, unless by break-glass", async () => {
  const { receipt } = await receiptIn(await storedLog(decidedCall(), [2]));
  const [only] = receipt.approvals;
  if (only === undefined) throw new Error("the call has no approval");
  const of = (changes: Partial<Approval>, glass = false) => {
    const breakGlass = glass ? create(BreakGlassUseSchema) : undefined;
    const decisions = receipt.decisions.map((each) => ({
      ...each,
      ...(each.decision && { decision: { ...each.decision, ...(glass && { breakGlass }) } }),
    }));
    return contradictions({ ...receipt, decisions, approvals: [{ ...only, ...changes }] });
  };
  const alternatives = only.alternatives.map((each) => ({ ...each, approvalsGiven: 1 }));
  const decidableAfter = timestampFromMs(Date.parse("2030-01-01T00:00:09Z"));
  expect(of({ alternatives })).toEqual([expect.stringContaining("did not have the votes")]);
  expect(of({ decidableAfter })).toEqual([expect.stringContaining("2030-01-01T00:00:09.000Z")]);
  expect(of({ excludedSubjects: ["cid"] })).toEqual([expect.stringContaining("might not decide")]);
  expect(of({ alternatives, decidableAfter }, true)).toEqual([]);
  const withoutPasskey = [expect.stringContaining("without the passkey")];
  for (const glass of [false, true]) {
    expect(of({ needsPasskey: true }, glass)).toEqual(withoutPasskey);
  }
});

test("a receipt in which fewer people confirmed with a passkey than the policy requires says so", async () => {
  const { receipt } = await receiptIn(await storedLog(decidedCall(), [2]));
  const of = (...confirming: readonly string[]) => {
    const stepUp = create(StepUpSchema, { credentialId: "c" });
    const decisions = receipt.decisions.map((each) => {
      const { decision } = each;
      const confirms = decision !== undefined && confirming.includes(decision.decidedBy);
      return confirms ? { ...each, decision: { ...decision, stepUp } } : each;
    });
    const approvals = receipt.approvals.map((each) => ({ ...each, needsPasskey: true }));
    return contradictions({ ...receipt, decisions, approvals });
  };
  expect(of("bob", "cid")).toEqual([]);
  expect(of("cid")).toEqual([expect.stringContaining("as many votes with a passkey")]);
  expect(of("bob")).toEqual([expect.stringContaining("without the passkey")]);
});

test("a receipt in which a model voted for people says so, and one names the model that might vote", async () => {
  const { receipt } = await receiptIn(await storedLog(decidedCall(), [2]));
  const reviewer = create(ReviewerVoteSchema, { model: "judge", rubricSha256: "e".repeat(64) });
  const of = (changes: Partial<Approval>, isOpen: boolean, voter = "cid") =>
    contradictions({
      ...receipt,
      decisions: receipt.decisions.map((each) => ({
        ...each,
        ...(each.decision?.decidedBy === voter && { decision: { ...each.decision, reviewer } }),
      })),
      approvals: receipt.approvals.map((each) => ({
        ...each,
        ...changes,
        alternatives: each.alternatives.map((one) => ({ ...one, reviewer: isOpen })),
      })),
    });
  expect(of({}, false)).toEqual([expect.stringContaining("a model voted")]);
  // Also if a person gave the vote that decided.
  for (const voter of ["cid", "bob"]) {
    expect(of({}, true, voter)).toEqual([]);
    expect(of({ excludedSubjects: ["zoe"] }, true, voter)).toEqual([
      expect.stringContaining("requires another person"),
    ]);
  }
});

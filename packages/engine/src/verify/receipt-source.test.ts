import { createHash, generateKeyPairSync } from "node:crypto";
import { ApprovalState } from "@reeve/contracts/approval";
import type { StoredRunBatch } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import { contradictions } from "@reeve/run/receipts/contradictions";
import { envelopeText, openEnvelope, sealEnvelope } from "@reeve/run/receipts/envelope";
import { parseSigningKey } from "@reeve/run/receipts/receipt-keys";
import { expect, test } from "vitest";
import { callWith, contents, decidedCall, decidedCallId } from "../../test/support/decided-call.ts";
import { payloadOf, receiptIn } from "../../test/support/receipts.ts";
import { recordedEvents, storedLog } from "../../test/support/stored-log.ts";

function digestOf(text: string | Uint8Array): string {
  return createHash("sha256").update(text).digest("hex");
}

test("a receipt says who asked, what was decided by whom, with every vote, and what came of it", async () => {
  const { receipt, subjects, isNewer } = await receiptIn(await storedLog(decidedCall(), [2]));
  expect(isNewer).toBe(false);
  expect(contradictions(receipt)).toEqual([]);
  expect(receipt).toMatchObject({
    tenant: "acme",
    callId: decidedCallId,
    requester: { startedBy: "ann", messageSenders: ["eve"], agentId: "payer", agentRevision: 3 },
    call: {
      tool: "pay",
      source: "mcp:bank",
      arguments: { to: contents.edited },
      argumentsEdited: true,
      argumentsSha256: digestOf(JSON.stringify({ to: contents.edited })),
      modelArguments: { to: contents.model },
      injectedArguments: { why: contents.model },
    },
    starts: [{ sequence: 9, approvalId: decidedCallId }],
    result: { sequence: 10, contentSha256: digestOf("paid"), contentBytes: 4n },
  });
  expect(
    receipt.decisions.map(({ sequence, decision, isVote }) => [
      sequence,
      decision?.decidedBy,
      decision?.reason,
      isVote,
    ]),
  ).toEqual([
    [6, "bob", "not sure", true],
    [7, "bob", "ok", true],
    [8, "cid", "ok", true],
  ]);
  expect(subjects).toMatchObject([
    { name: `call:${decidedCallId}` },
    { name: `result:${decidedCallId}`, digest: { sha256: digestOf("paid") } },
    { name: "artifact:art_large", digest: { sha256: "d".repeat(64) } },
    { name: "file:bill.pdf", digest: { sha256: "a".repeat(64) } },
  ]);
});

test("the same log gives the same receipt, however long it has become since", async () => {
  const log = await storedLog(decidedCall(), [1]);
  const { runId, subject, batches } = log;
  const payload = await payloadOf(log);
  for (const length of [10, 11, 12]) {
    expect(await payloadOf({ runId, subject, batches: batches.slice(0, length) })).toEqual(payload);
  }
  expect((await receiptIn(log)).receipt.log).toMatchObject({
    throughSequence: 10,
    digest: batches[9]?.digest,
    chainedFrom: 1,
  });
});

test("a recorded history gives the receipt that earlier versions gave", async () => {
  const approved = await storedLog(recordedEvents("0.3.0-approval-approved.json"), [4]);
  const payload = await payloadOf(approved, "run_test-6-0");
  expect(digestOf(payload)).toBe(
    "da23e13dc93dce39174ed372ae819d1ae796342c5a83ec09b34bc92ea0901cf4",
  );
  const rejected = await storedLog(recordedEvents("0.3.0-approval-rejected.json"), [4]);
  expect((await receiptIn(rejected, "run_test-6-0")).receipt).toMatchObject({
    decisions: [{ decision: { approved: false } }],
    starts: [],
  });
  const asked = await storedLog(recordedEvents("0.3.0-question.json"), [4]);
  expect((await receiptIn(asked, "run_test-6-0")).receipt.approvals[0]?.question).toBeDefined();
});

test("a call has no receipt before its result, without a decision, and in a run that does not have it", async () => {
  const log = await storedLog(decidedCall(), [1]);
  const begun = { ...log, batches: log.batches.slice(0, 9) };
  await expect(payloadOf(begun)).rejects.toThrow("has no result yet");
  await expect(payloadOf(log, "run_decided000-5-0")).rejects.toThrow(
    `calls that people were asked about: ${decidedCallId}`,
  );
  const free = await storedLog(recordedEvents("0.3.0-tools.json"), [3]);
  await expect(payloadOf(free, "run_test-6-0")).rejects.toThrow("neither a person nor a grant");
});

test("nothing is signed for a log that was altered before the result, or stored for another run", async () => {
  const log = await storedLog(decidedCall(), [1]);
  for (const index of [0, 5, 9]) {
    const batch: StoredRunBatch | undefined = log.batches[index];
    if (batch === undefined) throw new Error("the log is too short");
    const payload = batch.payload.with(batch.payload.length - 1, 0).with(12, 1);
    const batches = log.batches.with(index, { ...batch, payload });
    await expect(payloadOf({ ...log, batches })).rejects.toThrow("was altered");
    await expect(payloadOf({ ...log, batches: log.batches.toSpliced(index, 1) })).rejects.toThrow(
      "was altered",
    );
  }
  await expect(payloadOf({ ...log, runId: "run_other00000" })).rejects.toThrow("another run");
});

test("what a newer version wrote about the call is refused, and not left out", async () => {
  const unknown = { no: 9_999, wireType: 0, data: new Uint8Array([1]) };
  for (const index of [4, 9]) {
    const events = decidedCall();
    const { event } = events[index] ?? { event: undefined };
    if (event?.case === "approval" && event.value.approval?.content) {
      event.value.approval.content.$unknown = [unknown];
    }
    if (event?.case === "toolResult" && event.value.result) event.value.result.$unknown = [unknown];
    await expect(payloadOf(await storedLog(events, [3]))).rejects.toThrow("newer version");
  }
  const keys = { $typeName: "x", $unknown: [1], __proto__: 1 };
  const named = await storedLog(decidedCall({ result: { structured: keys } }), [3]);
  await expect(payloadOf(named)).resolves.toBeDefined();
});

const call = { callId: decidedCallId, name: "pay" };
const approval = { approvalId: decidedCallId, call, state: "APPROVAL_STATE_PENDING" };
const approved = {
  ...approval,
  state: "APPROVAL_STATE_APPROVED",
  decision: { approved: true, decidedBy: "bob" },
};

function resultOf(approvalId: string, status: string) {
  return { toolResult: { result: { ...call, content: "", metadata: { approvalId, status } } } };
}

test("an approval that was superseded is shown with the one that replaced it, and each with its start", async () => {
  const second = { ...approved, approvalId: `${decidedCallId}-r2`, supersedes: decidedCallId };
  const events = callWith([
    { approval: { approval } },
    { approval: { approval: approved } },
    { toolCallStarted: { callId: decidedCallId } },
    { approval: { approval: { ...approved, state: "APPROVAL_STATE_SUPERSEDED" } } },
    { approval: { approval: { ...second, state: "APPROVAL_STATE_PENDING", decision: null } } },
    { approval: { approval: second } },
    { toolCallStarted: { callId: decidedCallId } },
    resultOf(second.approvalId, "TOOL_STATUS_SUCCESS"),
  ]);
  const { receipt } = await receiptIn(await storedLog(events, [2]));
  expect(contradictions(receipt)).toEqual([]);
  expect(receipt.approvals.map(({ state }) => state)).toEqual([
    ApprovalState.SUPERSEDED,
    ApprovalState.APPROVED,
  ]);
  expect(receipt.decisions.map(({ approvalId }) => approvalId)).toEqual([
    decidedCallId,
    second.approvalId,
  ]);
  expect(receipt.starts.map(({ approvalId }) => approvalId)).toEqual([
    decidedCallId,
    second.approvalId,
  ]);
});

test("a grant that decided is named, and a call that became subtasks starts with each of them", async () => {
  const appliedGrant = { grantId: "grt_1", rule: "pay" };
  const granted = { ...approved, decision: { ...approved.decision, appliedGrant } };
  const events = callWith([
    { approval: { approval } },
    { approval: { approval: granted } },
    { subtask: { subtaskId: `${decidedCallId}/0`, callId: decidedCallId } },
    { subtask: { subtaskId: `${decidedCallId}/0`, callId: decidedCallId, ended: true } },
    resultOf(decidedCallId, "TOOL_STATUS_SUCCESS"),
  ]);
  const { receipt } = await receiptIn(await storedLog(events, [2]));
  expect(contradictions(receipt)).toEqual([]);
  expect(receipt.decisions).toMatchObject([{ decision: { decidedBy: "bob", appliedGrant } }]);
  expect(receipt.starts).toMatchObject([{ sequence: 6, approvalId: decidedCallId }]);
});

const ended = { status: { status: "RUN_STATUS_CANCELLED" } };

test("a call that was approved and has no result before its run ended has a receipt with the end", async () => {
  const begun = callWith([
    { approval: { approval } },
    { approval: { approval: approved } },
    { toolCallStarted: { callId: decidedCallId } },
    ended,
    { treeStored: {} },
  ]);
  const log = await storedLog(begun, [1]);
  const { receipt, subjects } = await receiptIn(log);
  expect(contradictions(receipt)).toEqual([]);
  expect(receipt).toMatchObject({
    runId: "run_decided000",
    end: { sequence: 7, status: RunStatus.CANCELLED },
    starts: [{ sequence: 6 }],
    log: { throughSequence: 7 },
  });
  expect(receipt.result).toBeUndefined();
  expect(subjects).toMatchObject([{ name: `call:${decidedCallId}` }]);
  const open = { ...log, batches: log.batches.slice(0, 6) };
  await expect(payloadOf(open)).rejects.toThrow("wait until it has ended");
});

test("a call on which nobody decided before its run ended has no receipt, and is not told to wait", async () => {
  const log = await storedLog(callWith([{ approval: { approval } }, ended]), [1]);
  await expect(payloadOf(log)).rejects.toThrow("decided on call");
});

test("an event of a newer version before the result is refused as such, and not as altered", async () => {
  const events = decidedCall();
  const [, prepared] = events;
  if (prepared === undefined) throw new Error("the run is too short");
  prepared.event = { case: undefined };
  prepared.$unknown = [{ no: 9_999, wireType: 2, data: new Uint8Array([0]) }];
  const { batches, ...log } = await storedLog(events, [2]);
  const [first, ...others] = batches;
  if (first === undefined) throw new Error("the log is empty");
  const headed = [{ ...first, kinds: [...first.kinds, "newer_kind"] }, ...others];
  await expect(payloadOf({ ...log, batches: headed })).rejects.toThrow("newer version");
});

test("a signed receipt verifies with its key, and gives back its payload", async () => {
  const payload = await payloadOf(await storedLog(decidedCall(), [2]));
  const { privateKey } = generateKeyPairSync("ed25519");
  const key = parseSigningKey(privateKey.export({ type: "pkcs8", format: "pem" }).toString(), "k");
  const text = envelopeText(sealEnvelope(payload, key));
  expect(text).toBe(envelopeText(sealEnvelope(payload, key)));
  const opened = openEnvelope(text, [key]);
  expect(opened).toMatchObject({ kind: "verified", keyId: key.keyId });
  expect(opened.kind === "verified" && Buffer.compare(opened.payload, payload)).toBe(0);
});

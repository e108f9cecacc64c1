import { createHash } from "node:crypto";
import { receiptPayload, readStatement } from "@reeve/run/receipts/receipt-statement";
import { expect, test } from "vitest";
import { callWith, contents, decidedCall, decidedCallId } from "../../test/support/decided-call.ts";
import type { StoredLog } from "../../test/support/stored-log.ts";
import { storedLog } from "../../test/support/stored-log.ts";
import { receiptSource } from "./receipt-source.ts";

async function receiptIn({ subject, runId: run, batches }: StoredLog, omitContent = false) {
  const source = await receiptSource({ subject, run, callId: decidedCallId }, batches);
  const payload = receiptPayload(source, { omitContent });
  const statement = readStatement(payload);
  if (typeof statement === "string") throw new Error(`the payload ${statement}`);
  return { receipt: statement.receipt, text: new TextDecoder().decode(payload) };
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

test("a receipt without content has the digests of arguments and answers, and nothing of them", async () => {
  const { receipt, text } = await receiptIn(await storedLog(decidedCall(), [2]), true);
  expect(Object.values(contents).filter((content) => text.includes(content))).toEqual([]);
  expect(receipt.contentOmitted).toBe(true);
  expect(receipt.call?.argumentsSha256).toBe(digestOf(`{"to":"${contents.edited}"}`));
  expect(receipt.decisions[2]?.editedArgumentsSha256).toBe(receipt.call?.argumentsSha256);
});

test("no receipt shows what files contain", async () => {
  const { receipt } = await receiptIn(await storedLog(decidedCall(), [2]));
  expect(receipt.approvals[0]?.content?.files[0]).toMatchObject({ path: "bill.pdf", preview: "" });
});

const decision = { approved: true, decidedBy: "bob" };
const asked = {
  approvalId: decidedCallId,
  call: { callId: decidedCallId, name: "pay" },
  state: "APPROVAL_STATE_PENDING",
  question: {
    questionId: "q",
    message: "Pay the secret invoice?",
    schema: { type: "object", properties: { payee: { enum: ["secret bank"] } } },
    askedBy: "agent",
  },
  comments: [{ commentId: "c", commentedBy: "eve", text: "a secret remark" }],
  assignment: { assignee: "secret helper", assignedBy: "eve" },
};

test("a receipt without content has no questions, and none has what people noted", async () => {
  const log = await storedLog(
    callWith([
      { approval: { approval: asked } },
      { approval: { approval: { ...asked, state: "APPROVAL_STATE_APPROVED", decision } } },
      { toolResult: { result: { callId: decidedCallId, name: "pay", content: "" } } },
    ]),
    [2],
  );
  const short = await receiptIn(log, true);
  expect(short.text).not.toContain("secret");
  expect(short.receipt.approvals[0]?.question).toMatchObject({ questionId: "q", askedBy: "agent" });
  const [whole] = (await receiptIn(log)).receipt.approvals;
  expect(whole?.question).toMatchObject(asked.question);
  expect(whole?.comments).toEqual([]);
  expect(whole?.assignment).toBeUndefined();
});

test("a receipt names the specs of the delegates that the run could call", async () => {
  const facts = [
    { approval: { approval: { ...asked, state: "APPROVAL_STATE_APPROVED", decision } } },
    { toolResult: { result: { callId: decidedCallId, name: "pay", content: "" } } },
  ];
  const receiptWith = async (instructions: string) => {
    const finder = { agentId: "finder", revision: 7, author: "eve" };
    const delegates = [{ ...finder, spec: { id: "finder", instructions } }];
    const { receipt } = await receiptIn(await storedLog(callWith(facts, { delegates }), [2]));
    return receipt.requester?.delegates ?? [];
  };
  const [before] = await receiptWith("search");
  expect(before).toMatchObject({ agentId: "finder", revision: 7, author: "eve" });
  expect(before?.specSha256).toMatch(/^[0-9a-f]{64}$/);
  expect((await receiptWith("delete"))[0]?.specSha256).not.toBe(before?.specSha256);
});

test("a receipt has the arguments with which a plugin replaced those of the model", async () => {
  const replaced = { to: "the safe account" };
  const { question: _question, ...held } = asked;
  const log = await storedLog(
    callWith([
      {
        pluginHookFinished: {
          pluginId: "guard",
          hookId: "h:tool_gate:guard",
          callId: decidedCallId,
          answer: { rewrite: { arguments: replaced } },
        },
      },
      { approval: { approval: held } },
      { approval: { approval: { ...held, state: "APPROVAL_STATE_APPROVED", decision } } },
      { toolResult: { result: { callId: decidedCallId, name: "pay", content: "" } } },
    ]),
    [2],
  );
  const { receipt } = await receiptIn(log);
  expect(receipt.call?.arguments).toEqual(replaced);
  expect(receipt.call?.argumentsSha256).toBe(digestOf(JSON.stringify(replaced)));
});

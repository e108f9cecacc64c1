import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { ApprovalSchema, GateKind } from "@reeve/contracts/approval";
import { ToolCallSchema } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import { mayGrant } from "./may-grant.ts";

type Part = MessageInitShape<typeof ApprovalSchema>;

const pay = { name: "pay", arguments: {} };

function of({ call = pay, ...part }: Part): boolean {
  return mayGrant(
    create(ApprovalSchema, { agentId: "payer", call: create(ToolCallSchema, call), ...part }),
  );
}

test("a rule is offered where the server would make it", () => {
  expect(of({})).toBe(true);
  expect(of({ alternatives: [{ approvals: 2 }, { approvals: 1 }] })).toBe(true);
});

test.each<[string, Part]>([
  ["a question", { question: {} }],
  ["a node of a workflow", { gates: [GateKind.WORKFLOW] }],
  ["a call of a delegate", { delegateId: "helper" }],
  ["a call that needs a passkey", { needsPasskey: true }],
  ["a call whose arguments cannot be read", { call: { name: "pay", rawArguments: "{" } }],
  ["a call that two people decide", { alternatives: [{ approvals: 2 }] }],
])("no rule is offered for %s", (_, part) => {
  expect(of(part)).toBe(false);
});

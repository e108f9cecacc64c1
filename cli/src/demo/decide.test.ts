import { create } from "@bufbuild/protobuf";
import { ApprovalSchema } from "@reeve/contracts/approval";
import { expect, test } from "vitest";
import { MemoryTerminal } from "../../test/support/memory-terminal.ts";
import { decide } from "./decide.ts";

const call = { callId: "c", name: "send", arguments: { to: "ann" } };

async function decided(answers: readonly string[], allowEditedArguments = true) {
  const terminal = new MemoryTerminal({ answers });
  const sent: unknown[] = [];
  const approval = create(ApprovalSchema, { approvalId: "a", call, allowEditedArguments });
  const { signal } = new AbortController();
  await decide(
    { terminal, signal },
    {
      decide: (decision) => {
        sent.push(decision);
        return Promise.resolve(approval);
      },
    },
    approval,
    "ask",
  );
  return { sent, stdout: terminal.stdout };
}

test("a person can approve a call with other arguments", async () => {
  const { sent, stdout } = await decided(["e", '{"to":"bob"}']);
  expect(stdout).toContain('approve send? [y/n/e]     arguments: {"to":"ann"}\n');
  expect(sent).toEqual([
    { approvalId: "a", reason: "", approved: true, editedArguments: { to: "bob" } },
  ]);
});

test("the question is asked again after arguments that are not a JSON object, or none", async () => {
  const { sent, stdout } = await decided(["e", "[1]", "edit", "", "n"]);
  expect(stdout).toContain("that is not a JSON object");
  expect(sent).toEqual([{ approvalId: "a", reason: "rejected by a person", approved: false }]);
});

test("arguments cannot be edited unless the agent permits it", async () => {
  const { sent, stdout } = await decided(["e", "y"], false);
  expect(stdout).not.toContain("/e]");
  expect(sent).toEqual([{ approvalId: "a", reason: "", approved: true }]);
});

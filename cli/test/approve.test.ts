import type { ConnectRouter } from "@connectrpc/connect";
import type { DecideApprovalRequest } from "@reeve/contracts/approval";
import { ApprovalService, ApprovalState } from "@reeve/contracts/approval";
import { expect, test } from "vitest";
import { runCli } from "../src/run-cli.ts";
import { MemoryTerminal } from "./support/memory-terminal.ts";
import { serveRoutes } from "./support/small-server.ts";

test.each([
  [["approve", "a", "--answer", '{"dish":"soup"}'], { approved: true, answer: { dish: "soup" } }],
  [["approve", "a", "--args", '{"to":"bob"}'], { approved: true, editedArguments: { to: "bob" } }],
  [["reject", "a", "--reason", "not today"], { approved: false, reason: "not today" }],
])("%j sends the decision of the person", async (args, expected) => {
  const decisions: DecideApprovalRequest[] = [];
  const decideApproval = (decision: DecideApprovalRequest) => {
    decisions.push(decision);
    return { approval: { state: ApprovalState.APPROVED } };
  };
  const routes = (router: ConnectRouter) =>
    void router.service(ApprovalService, { decideApproval });
  const { signal } = new AbortController();
  await using server = await serveRoutes(routes, 0, signal);
  const terminal = new MemoryTerminal();
  const code = await runCli(["--url", server.url, ...args], { terminal, environment: {}, signal });
  expect({ code, stderr: terminal.stderr }).toEqual({ code: 0, stderr: "" });
  expect(decisions).toMatchObject([{ approvalId: "a", ...expected }]);
});

test("the help of reject says what the reason is for, and that of approve does not", async () => {
  const { signal } = new AbortController();
  const helpOf = async (command: string) => {
    const terminal = new MemoryTerminal();
    await runCli([command, "--help"], { terminal, environment: {}, signal });
    return terminal.stdout;
  };
  expect(await helpOf("reject")).toContain("reason for the rejection, which the model sees");
  const approve = await helpOf("approve");
  expect(approve).toContain("reason for the approval");
  expect(approve).not.toMatch(/reject/i);
});

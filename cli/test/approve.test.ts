import type { ConnectRouter } from "@connectrpc/connect";
import { Code, ConnectError } from "@connectrpc/connect";
import type { DecideApprovalRequest, DecideApprovalsRequest } from "@reeve/contracts/approval";
import { ApprovalService, ApprovalState } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { connectErrorOf } from "@reeve/platform/rpc/connect-failure";
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

test("a run instead of an approval is named as such, with the approvals for which it waits", async () => {
  const missing = connectErrorOf(
    new Failure("not_found", ErrorReason.APPROVAL_NOT_FOUND, "approval run_1 not found"),
  );
  const routes = (router: ConnectRouter) =>
    void router.service(ApprovalService, {
      decideApproval: () => Promise.reject(missing),
      listApprovals: () => ({ approvals: [{ approvalId: "run_1-9-0" }] }),
    });
  const { signal } = new AbortController();
  await using server = await serveRoutes(routes, 0, signal);
  const terminal = new MemoryTerminal();
  const args = ["--url", server.url, "approve", "run_1"];
  expect(await runCli(args, { terminal, environment: {}, signal })).toBe(2);
  expect(terminal.stderr).toBe(
    `error: run_1 is a run; decide what it waits for: reeve --url ${server.url} approve run_1-9-0\n`,
  );
});

test("several approvals are decided alike, with a line for each, and fail if one of them does", async () => {
  const requests: DecideApprovalsRequest[] = [];
  const routes = (router: ConnectRouter) =>
    void router.service(ApprovalService, {
      decideApprovals: (request) => {
        requests.push(request);
        return {
          results: request.decided.map(({ approvalId }) =>
            approvalId === "c"
              ? { approvalId, error: { message: "c is\u001b[2J closed" } }
              : { approvalId, state: ApprovalState.REJECTED },
          ),
        };
      },
    });
  const { signal } = new AbortController();
  await using server = await serveRoutes(routes, 0, signal);
  const decided = async (...args: readonly string[]) => {
    const terminal = new MemoryTerminal();
    const line = ["--url", server.url, ...args];
    const code = await runCli(line, { terminal, environment: {}, signal });
    return [code, terminal.stdout, terminal.stderr];
  };
  expect(await decided("reject", "a", "b", "a", "--reason", "not today")).toEqual([
    0,
    "a rejected\nb rejected\n",
    "",
  ]);
  expect(await decided("approve", "a", "c")).toEqual([
    1,
    "a approved\n",
    "c was not decided: c is[2J closed\n",
  ]);
  expect(requests).toMatchObject([
    { approved: false, reason: "not today", decided: [{ approvalId: "a" }, { approvalId: "b" }] },
    { approved: true, reason: "", decided: [{ approvalId: "a" }, { approvalId: "c" }] },
  ]);
  expect(requests[0]?.decisionId).not.toBe("");
  expect(await decided("approve", "a", "b", "--args", "{}")).toEqual([
    2,
    "",
    "error: several approvals are decided alike: with --reason, and no other option\n",
  ]);
  expect(requests).toHaveLength(2);
});

test("approvals --watch asks a person at a terminal about each approval", async () => {
  const { signal } = new AbortController();
  const decided = Promise.withResolvers<DecideApprovalRequest>();
  const approval = { approvalId: "a", runId: "run_1", call: { name: "send" } };
  const pending = { ...approval, state: ApprovalState.PENDING };
  const routes = (router: ConnectRouter) =>
    void router.service(ApprovalService, {
      watchApprovals: async function* () {
        yield { approvals: [pending] };
        const { approved } = await decided.promise;
        const state = approved ? ApprovalState.APPROVED : ApprovalState.REJECTED;
        yield { approvals: [{ ...approval, state }] };
        throw new ConnectError("enough", Code.PermissionDenied);
      },
      listApprovals: () => ({ approvals: [pending] }),
      decideApproval: (decision) => {
        decided.resolve(decision);
        return { approval };
      },
    });
  await using server = await serveRoutes(routes, 0, signal);
  const terminal = new MemoryTerminal({ answers: ["y"] });
  const args = ["--url", server.url, "approvals", "--watch"];
  expect(await runCli(args, { terminal, environment: {}, signal })).not.toBe(0);
  expect(await decided.promise).toMatchObject({ approvalId: "a", approved: true });
  expect(terminal.stdout).toMatch(/send is waiting[^]*approve\? \[y\]es\/\[n\]o [^]*send approved/);
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

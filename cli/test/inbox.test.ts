import type { ConnectRouter } from "@connectrpc/connect";
import { Code, ConnectError } from "@connectrpc/connect";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ListApprovalsRequest, WatchApprovalsRequest } from "@reeve/contracts/approval";
import { ApprovalService, ApprovalState } from "@reeve/contracts/approval";
import { expect, test } from "vitest";
import { runCli } from "../src/run-cli.ts";
import { MemoryTerminal } from "./support/memory-terminal.ts";
import { serveRoutes } from "./support/small-server.ts";

const { signal } = new AbortController();

async function printed(routes: (router: ConnectRouter) => void, ...args: readonly string[]) {
  await using server = await serveRoutes(routes, 0, signal);
  const terminal = new MemoryTerminal();
  const line = ["--url", server.url, ...args];
  const code = await runCli(line, { terminal, environment: {}, signal });
  return { code, stdout: terminal.stdout, stderr: terminal.stderr };
}

const filters = [
  ["--state", "approved", "rejected"],
  ["--agent", "payer", "--tool", "pay", "--thread", "thr_1", "--requester", "ann"],
  ["--mine", "--person", "eve", "--group", "finance", "--text", "Zoë"],
  ["--older-than", "2030-01-02T00:00:00Z", "--younger-than", "2030-01-01T00:00:00Z"],
].flat();

test.each(["inbox", "approvals"])("%s lists what the filters select", async (command) => {
  const requests: ListApprovalsRequest[] = [];
  const listApprovals = (request: ListApprovalsRequest) => {
    requests.push(request);
    return { approvals: [{ approvalId: "a", state: ApprovalState.APPROVED, agentId: "payer" }] };
  };
  const { stdout, stderr } = await printed(
    (router) => void router.service(ApprovalService, { listApprovals }),
    command,
    "--run",
    "run_1",
    ...filters,
  );
  expect(stderr).toBe("");
  expect(stdout).toMatch(/^APPROVAL .*\na +approved +payer/);
  const [request] = requests;
  expect(request).toMatchObject({
    runId: "run_1",
    filter: {
      states: [ApprovalState.APPROVED, ApprovalState.REJECTED],
      agentId: "payer",
      tool: "pay",
      threadId: "thr_1",
      requestedBy: "ann",
      forMe: true,
      person: "eve",
      group: "finance",
      text: "Zoë",
    },
  });
  const { requestedBefore, requestedAfter } = request?.filter ?? {};
  const times = [requestedAfter, requestedBefore].map((time) => time && timestampMs(time));
  expect(times).toEqual([Date.UTC(2030, 0, 1), Date.UTC(2030, 0, 2)]);
});

test("a comment and an assignment are sent, and their outcome is printed", async () => {
  const requests: unknown[] = [];
  const routes = (router: ConnectRouter) =>
    void router.service(ApprovalService, {
      commentApproval: ({ approvalId, text }) => {
        requests.push([approvalId, text]);
        return { approval: { comments: [{ text }] } };
      },
      assignApproval: ({ approvalId, assignee }) => {
        requests.push([approvalId, assignee]);
        return { approval: { assignment: { assignee } } };
      },
    });
  expect((await printed(routes, "comment", "a", "why?")).stdout).toBe("a has 1 comment\n");
  expect((await printed(routes, "assign", "a", "eve")).stdout).toBe("eve takes care of a\n");
  expect((await printed(routes, "assign", "a")).stdout).toBe("nobody takes care of a\n");
  expect(requests).toEqual([
    ["a", "why?"],
    ["a", "eve"],
    ["a", ""],
  ]);
});

test("approvals --watch follows what the filters select", async () => {
  const requests: WatchApprovalsRequest[] = [];
  await printed(
    (router) =>
      void router.service(ApprovalService, {
        async *watchApprovals(request) {
          requests.push(request);
          yield await Promise.resolve({ approvals: [] });
          throw new ConnectError("enough", Code.PermissionDenied);
        },
      }),
    "approvals",
    "--watch",
    "--mine",
  );
  expect(requests).toMatchObject([{ runId: "", filter: { forMe: true } }]);
});

test("inbox --counts prints how many approvals there are, and where counting ended", async () => {
  const count = { count: 3 };
  const routes = (router: ConnectRouter) =>
    void router.service(ApprovalService, {
      countApprovals: () => ({
        states: [{ state: ApprovalState.PENDING, count: { count: 100_000, isPartial: true } }],
        agents: [{ name: "payer\u001b[2J", count }],
        tools: [{ name: "pay", count }],
        waitingForMe: { count: 2 },
      }),
    });
  const { stdout } = await printed(routes, "inbox", "--counts");
  expect(stdout.split("\n").map((line) => line.split(/ +/).join(" "))).toEqual([
    "COUNT OF NAME",
    "2 pending for you",
    "100000+ state pending",
    "3 agent payer[2J",
    "3 tool pay",
    "",
  ]);
  const json = await printed(routes, "inbox", "--counts", "--json");
  expect(JSON.parse(json.stdout)).toMatchObject({ waitingForMe: { count: 2 } });
});

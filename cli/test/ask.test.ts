import { join } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import type { ApprovalSchema, DecideApprovalRequest } from "@reeve/contracts/approval";
import { ApprovalService, ApprovalState } from "@reeve/contracts/approval";
import { RunService, RunStatus } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { onTerminal, shellEnvironment } from "../../test/support/on-terminal.ts";
import { startReeve } from "./support/reeve-process.ts";
import type { EventInit } from "./support/small-server.ts";
import { serveRoutes } from "./support/small-server.ts";

type ApprovalInit = MessageInitShape<typeof ApprovalSchema>;

const clone = join(import.meta.dirname, "../..");
const bin = join(clone, "cli/bin/reeve.mjs");
const editor = { EDITOR: "sed --in-place s/ann/bob/" };

/**
 * A run that waits for two approvals, and ends when both are decided, with `decideApproval` or by `decideElsewhere`. Answers
 * decisions after `answers`.
 */
function waitingRun(answers: Promise<void> = Promise.resolve()) {
  const approvals = ["first", "second"].map((name, index): ApprovalInit => ({
    approvalId: `a${index}`,
    runId: "run_1",
    state: ApprovalState.PENDING,
    call: { name, arguments: { to: "ann" } },
    allowEditedArguments: true,
  }));
  const changes = approvals.map(() => Promise.withResolvers<ApprovalState>());
  const decisions: DecideApprovalRequest[] = [];
  let sequence = 0;
  const event = (content: NonNullable<EventInit["event"]>): EventInit => ({
    runId: "run_1",
    sequence: ++sequence,
    event: content,
  });
  const approval = (value: ApprovalInit) => event({ case: "approval", value: { approval: value } });
  const routes = (router: ConnectRouter) => {
    router.service(RunService, {
      getRun: ({ runId }) => ({ run: { runId, agentId: "writer" } }),
      watchRun: async function* () {
        yield { events: approvals.map(approval) };
        for (const [index, { promise }] of changes.entries()) {
          yield { events: [approval({ ...approvals[index], state: await promise })] };
        }
        const status = RunStatus.COMPLETED;
        yield { events: [event({ case: "status", value: { status } })], endStatus: status };
      },
    });
    router.service(ApprovalService, {
      listApprovals: () => ({ approvals }),
      decideApproval: async (decision) => {
        decisions.push(decision);
        await answers;
        changes[Number(decision.approvalId.slice(1))]?.resolve(ApprovalState.APPROVED);
        return {};
      },
    });
  };
  const decideElsewhere = (index: number) => changes[index]?.resolve(ApprovalState.REJECTED);
  return { routes, decisions, decideElsewhere };
}

test("watch on a terminal asks about one approval after the other, until somebody else decides", async () => {
  const { signal } = new AbortController();
  const { routes, decisions, decideElsewhere } = waitingRun();
  await using server = await serveRoutes(routes, 0, signal);
  using watch = onTerminal(`${process.execPath} ${bin} --url ${server.url} watch run_1`, {
    cwd: clone,
    environment: shellEnvironment(editor),
  });
  await watch.until(/arguments:\n +\{\n +"to": "ann"\n +\}\n +approve\? \[y\]es\/\[n\]o\/\[e\]dit/);
  watch.type("e\r");
  await watch.until(/"to": "bob"[^]*approve\?/);
  watch.type("y\r");
  await watch.until(/first approved[^]*"to": "ann"[^]*approve\?/);
  decideElsewhere(1);
  await watch.until(/second rejected/);
  expect(await watch.code).toBe(0);
  expect(decisions).toMatchObject([
    { approvalId: "a0", approved: true, editedArguments: { to: "bob" } },
  ]);
  expect(watch.said()).toMatch(/completed\n$/);
});

test("a line that was typed before a question was shown does not answer it", async () => {
  const { signal } = new AbortController();
  const typedAhead = Promise.withResolvers<void>();
  const { routes, decisions } = waitingRun(typedAhead.promise);
  await using server = await serveRoutes(routes, 0, signal);
  using watch = onTerminal(`${process.execPath} ${bin} --url ${server.url} watch run_1`, {
    cwd: clone,
    environment: shellEnvironment(editor),
  });
  await watch.until(/approve\?/);
  watch.type("y\r");
  await expect.poll(() => decisions.length, { timeout: 30_000 }).toBe(1);
  watch.type("yes\r");
  // The terminal echoes what nobody reads.
  await watch.until(/yes\n/);
  typedAhead.resolve();
  await watch.until(/first approved[^]*approve\?/);
  watch.type("n\r");
  await watch.until(/reason \(Enter for none\):/);
  watch.type("not today\r");
  expect(await watch.code).toBe(0);
  expect(decisions).toMatchObject([{ approved: true }, { approved: false, reason: "not today" }]);
});

test("Ctrl-C in the editor is meant for the editor", async () => {
  const { signal } = new AbortController();
  const { routes, decisions, decideElsewhere } = waitingRun();
  await using server = await serveRoutes(routes, 0, signal);
  const script = `trap : INT; echo editing; read line; sed -i s/ann/bob/ "$0"`;
  using watch = onTerminal(`exec ${process.execPath} ${bin} --url ${server.url} watch run_1`, {
    cwd: clone,
    environment: shellEnvironment({ EDITOR: `sh -c '${script}'` }),
  });
  await watch.until(/approve\?/);
  watch.type("e\r");
  await watch.until(/editing/);
  watch.type("\x03\r");
  await watch.until(/"to": "bob"[^]*approve\?/);
  watch.type("y\r");
  await watch.until(/first approved/);
  decideElsewhere(1);
  expect(await watch.code).toBe(0);
  expect(decisions).toMatchObject([{ approved: true, editedArguments: { to: "bob" } }]);
});

test("watch without a terminal prints the commands that decide, and asks nothing", async () => {
  const { signal } = new AbortController();
  const { routes, decisions, decideElsewhere } = waitingRun();
  await using server = await serveRoutes(routes, 0, signal);
  const watch = startReeve(["--url", server.url, "watch", "run_1"]);
  await watch.until(`--url ${server.url} reject a1\n`);
  expect(watch.stdout()).toContain(`--url ${server.url} approve a1 [--args '{…}']\n`);
  decideElsewhere(0);
  decideElsewhere(1);
  expect(await watch.code).toBe(0);
  expect(watch.stdout()).not.toContain("[y]es");
  expect(decisions).toEqual([]);
});

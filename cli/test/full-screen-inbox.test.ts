import { join } from "node:path";
import process from "node:process";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import type { ApprovalSchema, DecideApprovalRequest } from "@reeve/contracts/approval";
import { ApprovalService, ApprovalState } from "@reeve/contracts/approval";
import { PermissionClass, ToolService } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import { onTerminal, shellEnvironment } from "../../test/support/on-terminal.ts";
import { serveRoutes } from "./support/small-server.ts";

type ApprovalInit = Exclude<
  MessageInitShape<typeof ApprovalSchema>,
  { readonly $typeName: string }
>;

const clone = join(import.meta.dirname, "../..");
const bin = join(clone, "cli/bin/reeve.mjs");
const leave = "\u001b[?1049l";
const never = new AbortController().signal;

const pending = (approvalId: string, name: string): ApprovalInit => ({
  approvalId,
  runId: "run_1",
  agentId: "writer",
  state: ApprovalState.PENDING,
  call: { name, arguments: { to: "ann", text: "\u001b[2Jhidden?" } },
  allowEditedArguments: true,
});

/** Serves two approvals that wait, and takes decisions. */
function inboxRoutes(decisions: DecideApprovalRequest[]) {
  return (router: ConnectRouter) => {
    router.service(ToolService, {
      listTools: () => ({ tools: [{ name: "send", permissionClass: PermissionClass.NETWORK }] }),
    });
    router.service(ApprovalService, {
      listApprovals: () => ({}),
      async *watchApprovals(_, { signal }) {
        yield { approvals: [pending("a0", "send"), pending("a1", "pay")] };
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      },
      decideApproval: (decision) => {
        decisions.push(decision);
        const { approvalId, approved, reason } = decision;
        const state = approved ? ApprovalState.APPROVED : ApprovalState.REJECTED;
        const approval = { ...pending(approvalId, "send"), state };
        return { approval: { ...approval, decision: { approved, reason, decidedBy: "me" } } };
      },
    });
  };
}

test("a person edits and decides calls on the whole screen, and gets the terminal back", async () => {
  const decisions: DecideApprovalRequest[] = [];
  await using server = await serveRoutes(inboxRoutes(decisions), 0, never);
  const command = `stty cols 100 rows 40; exec ${process.execPath} ${bin} --url ${server.url} inbox`;
  using terminal = onTerminal(command, {
    cwd: clone,
    environment: shellEnvironment({ EDITOR: "sed --in-place s/ann/bob/" }),
  });
  await terminal.until(/risk: network[^]*"to": "ann"/);
  terminal.type("e");
  await terminal.until(/\+ {3}"to": "bob"/);
  terminal.type("a");
  await terminal.until(/approve with the edited arguments, with the reason/);
  terminal.type("fine\r");
  await terminal.until(/approved by me: fine/);
  terminal.type("j");
  await terminal.until(/pay, called by writer/);
  terminal.type("r");
  await terminal.until(/reject, with the reason/);
  terminal.type("no\r");
  await terminal.until(/rejected by me: no/);
  terminal.type("q");
  expect(await terminal.code).toBe(0);
  expect(terminal.raw().endsWith(leave)).toBe(true);
  // Of the arguments, nothing reached the terminal as a command.
  expect(terminal.raw()).not.toContain("\u001b[2J");
  expect(decisions).toMatchObject([
    {
      approvalId: "a0",
      approved: true,
      reason: "fine",
      editedArguments: { to: "bob", text: "\u001b[2Jhidden?" },
    },
    { approvalId: "a1", approved: false, reason: "no" },
  ]);
});

test.each(["SIGTERM", "SIGHUP"] as const)("%s gives the terminal back", async (name) => {
  await using server = await serveRoutes(inboxRoutes([]), 0, never);
  const command = `echo pid $$; exec ${process.execPath} ${bin} --url ${server.url} inbox`;
  using terminal = onTerminal(command, { cwd: clone, environment: shellEnvironment() });
  const said = await terminal.until(/risk: network/);
  process.kill(Number(/pid (\d+)/.exec(said)?.[1]), name);
  expect(await terminal.code).toBe(130);
  expect(terminal.raw().trimEnd().endsWith(leave)).toBe(true);
});

test("Ctrl-C during the editor ends both, and gives the terminal back", async () => {
  await using server = await serveRoutes(inboxRoutes([]), 0, never);
  const inbox = `${process.execPath} ${bin} --url ${server.url} inbox`;
  const command = `trap : INT; ${inbox}; echo code $?; stty -a`;
  using terminal = onTerminal(command, {
    cwd: clone,
    environment: shellEnvironment({ EDITOR: "sh -c 'echo editing; exec sleep 60'" }),
  });
  await terminal.until(/risk: network/);
  terminal.type("e");
  await terminal.until(/editing/);
  terminal.type("\u0003");
  await terminal.until(/code 130[^]* icanon/);
  await terminal.code;
  const raw = terminal.raw();
  // Nothing took the terminal again after it was given back to the editor.
  expect(raw.split("\u001b[?1049h")).toHaveLength(2);
  expect(raw.indexOf(leave)).toBeLessThan(raw.indexOf("editing"));
});

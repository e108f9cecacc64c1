import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { DecideApprovalRequest } from "@reeve/contracts/approval";
import {
  ApprovalService,
  ApprovalState,
  GrantSchema,
  GrantScope,
  GrantUseSchema,
} from "@reeve/contracts/approval";
import { serve } from "@reeve/platform/rpc/server";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { runCli } from "../src/run-cli.ts";
import { MemoryTerminal } from "./support/memory-terminal.ts";

const approvalId = "run_abcdefgh-3-0";
const call = { callId: approvalId, name: "run_command", arguments: { command: ["echo", "it's"] } };
const grant = create(GrantSchema, {
  grantId: "grt_abcdefgh-3-0",
  scope: GrantScope.RUN,
  rule: "run_command(echo *)",
  agentId: "coder",
  agentRevision: 2,
  grantedBy: "ann",
  maxUses: 3,
  expiresAt: timestampFromMs(Date.parse("2030-01-01T00:00:00Z")),
});

/** Runs a command against a server with one approval and one grant. */
async function reeve(...words: readonly string[]) {
  const { signal } = new AbortController();
  const decisions: DecideApprovalRequest[] = [];
  await using server = await serve(
    (router) =>
      void router.service(ApprovalService, {
        listApprovals: () => ({ approvals: [{ approvalId, call, state: ApprovalState.PENDING }] }),
        decideApproval: (request) => {
          decisions.push(request);
          const decision = { approved: true, ...(request.grant && { grant }) };
          return { approval: { approvalId, state: ApprovalState.APPROVED, decision } };
        },
        listGrants: () => ({ grants: [grant] }),
        revokeGrant: () => ({
          grant: { ...grant, uses: [create(GrantUseSchema, { approvalId })] },
        }),
      }),
    {
      host: "127.0.0.1",
      port: 0,
      services: [ApprovalService],
      log: createLogger("test", "silent"),
    },
    signal,
  );
  const terminal = new MemoryTerminal();
  const code = await runCli(["--url", server.url, ...words], { terminal, environment: {}, signal });
  return { code, decisions, stdout: terminal.stdout, stderr: terminal.stderr };
}

test("approve with a scope makes a grant, and shows it", async () => {
  const bounds = ["--rule", "run_command(echo *)", "--uses", "3", "--for", "2h"];
  const { stdout, decisions } = await reeve("approve", approvalId, "--scope", "run", ...bounds);
  expect(decisions[0]?.grant).toMatchObject({
    scope: GrantScope.RUN,
    rule: "run_command(echo *)",
    maxUses: 3,
    lifetime: { seconds: 7_200n },
  });
  expect(stdout).toBe(
    `${approvalId} approved\n` +
      "grt_abcdefgh-3-0 approves run_command(echo *) in this run, 3 times until 2030-01-01T00:00:00.000Z\n",
  );
});

test("approve with a scope and no rule decides nothing, and shows the exact rule", async () => {
  const { code, stderr, decisions } = await reeve("approve", approvalId, "--scope", "run");
  expect(code).not.toBe(0);
  expect(decisions).toEqual([]);
  expect(stderr).toContain(`--rule 'run_command(command = "echo it'\\''s")'`);
});

test("options of a grant without a scope decide nothing", async () => {
  const { code, stderr, decisions } = await reeve("approve", approvalId, "--uses", "3");
  expect(code).not.toBe(0);
  expect(decisions).toEqual([]);
  expect(stderr).toContain("need --scope");
});

test("grants are listed and revoked", async () => {
  const { stdout } = await reeve("grants");
  expect(stdout).toContain("grt_abcdefgh-3-0");
  expect(stdout).toMatch(/valid +run +coder@2 +ann +0\/3 +2030-01-01/);
  expect((await reeve("grants", "list", "--json")).stdout).toContain(
    '"rule":"run_command(echo *)"',
  );
  expect((await reeve("grants", "revoke", grant.grantId)).stdout).toBe(
    "grt_abcdefgh-3-0 revoked after 1 of 3 uses\n",
  );
});

import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
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
import type { ToolCallSchema } from "@reeve/contracts/tool";
import { ToolService } from "@reeve/contracts/tool";
import { serve } from "@reeve/platform/rpc/server";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { describe, expect, test } from "vitest";
import { runCli } from "../src/run-cli.ts";
import { MemoryTerminal } from "./support/memory-terminal.ts";

const approvalId = "run_abcdefgh-3-0";
const call = { callId: approvalId, name: "run_command", arguments: { command: ["echo", "it's"] } };
const properties = { command: {}, folder: {} };
/** The call that waits, and the schema of its tool. */
let asked: MessageInitShape<typeof ToolCallSchema> = call;
let schema: JsonObject = {};
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

/** The rule of the grant that is listed. */
let granted = grant.rule;

/** Runs a command against a server with one approval and one grant. */
async function reeve(...words: readonly string[]) {
  const { signal } = new AbortController();
  const decisions: DecideApprovalRequest[] = [];
  await using server = await serve(
    (router) => {
      router.service(ToolService, {
        listTools: () => ({ tools: [{ name: call.name, inputSchema: schema }] }),
      });
      router.service(ApprovalService, {
        listApprovals: () => ({
          approvals: [{ approvalId, call: asked, state: ApprovalState.PENDING }],
        }),
        decideApproval: (request) => {
          decisions.push(request);
          const decision = { approved: true, ...(request.grant && { grant }) };
          return { approval: { approvalId, state: ApprovalState.APPROVED, decision } };
        },
        listGrants: () => ({ grants: [{ ...grant, rule: granted }] }),
        revokeGrant: () => ({
          grant: { ...grant, uses: [create(GrantUseSchema, { approvalId })] },
        }),
      });
    },
    {
      host: "127.0.0.1",
      port: 0,
      services: [ApprovalService, ToolService],
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

/** Returns what the command says about a call with these arguments. */
async function proposalFor(args: JsonObject, more: JsonObject = {}): Promise<string> {
  asked = { ...call, arguments: args };
  schema = { type: "object", properties, additionalProperties: false, ...more };
  const { code, stderr, decisions } = await reeve("approve", approvalId, "--scope", "run");
  expect(code).not.toBe(0);
  expect(decisions).toEqual([]);
  return stderr;
}

describe("approve with a scope and no rule decides nothing", () => {
  test("and shows the exact rule of a call that names all arguments of the tool", async () => {
    const stderr = await proposalFor({ command: ["echo", "it's"], folder: "." });
    const rule = `--rule 'run_command(command = "echo it'\\''s", folder = ".")'`;
    expect(stderr).toContain(`exactly this one: ${rule}`);
  });

  test("and says which arguments the rule leaves free", async () => {
    const stderr = await proposalFor({ command: ["ls"] });
    expect(stderr).toContain(`--rule 'run_command(command = "ls")'; it leaves free: folder`);
    expect(stderr).not.toContain("exactly");
    const bare = await proposalFor({});
    expect(bare).toContain("all calls of the tool: --rule 'run_command'; it leaves free: command");
    const open = await proposalFor(
      { command: ["ls"], folder: "." },
      { additionalProperties: true },
    );
    expect(open).toContain("it leaves free: any argument that the call leaves out");
  });

  test("and proposes no rule if none can be exact", async () => {
    const stderr = await proposalFor({ command: ["x".repeat(2_000)], folder: "." });
    expect(stderr).toContain("no rule matches exactly this call");
    expect(stderr).not.toContain("'run_command'");
  });

  test("and shows spaces and invisible characters of the rule as they are", async () => {
    const stderr = await proposalFor({ command: ["a  b\u200b\n'"], folder: "." });
    expect(stderr).toContain(
      String.raw`--rule $'run_command(command = "\\"a  b\u200b\\\\n\'\\"", folder = ".")'`,
    );
  });
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

test("grants are listed with their whole rules, and characters that cannot be seen are escaped", async () => {
  granted = `run_command(command = "${"x".repeat(300)}  y")`;
  expect((await reeve("grants")).stdout).toContain(granted);
  granted = 'run_command(command = "a\tb\u202ec")';
  expect((await reeve("grants")).stdout).toContain(
    String.raw`"run_command(command = \"a\tb\u202ec\")"`,
  );
});

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { ApprovalService, ApprovalState, GrantScope } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { RunEventSchema } from "@reeve/contracts/run";
import { openRunLog } from "@reeve/jetstream/log/open";
import { emptyTail } from "@reeve/jetstream/log/port";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import { principalHeaders } from "@reeve/platform/rpc/internal-principal";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { approvalsConfig } from "../src/config.ts";
import { startApprovals } from "../src/serve.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");
const run = "run_abcdefgh";
const approvalId = `${run}-2-0`;

/** Users of a version that had no grants. */
const formerUsers = `
authorization { users = [
  { user: approvals, password: secret, permissions: { publish: { deny: ["*.API.*.*.KV_grants", "$KV.grants.>"] } } }
] }
`;

// Requirement: HITL-7
test("people decide while NATS does not permit the bucket of grants, but make none", async () => {
  await using resources = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "reeve-grants-"));
  resources.defer(() => rmSync(folder, { recursive: true, force: true }));
  const configFile = join(folder, "nats.conf");
  writeFileSync(configFile, formerUsers);
  const store = { storeDir: join(folder, "store"), configFile, log };
  const { url } = resources.use(await startNatsServer(store, never));
  const user = { user: "approvals", pass: "secret" };
  const nats = resources.use(await connectNats(url, { name: "test", log, ...user }, never));
  const approval = { approvalId, runId: run, state: ApprovalState.PENDING };
  const facts = [
    { case: "runCreated" as const, value: { tenant: "acme" } },
    { case: "approval" as const, value: { approval } },
    { case: "runParked" as const, value: { waitingFor: [approvalId] } },
  ];
  const events = facts.map((event, index) =>
    create(RunEventSchema, { runId: run, sequence: index + 1, event }),
  );
  await (await openRunLog(nats)).append({ tenant: "acme", run }, emptyTail, events, never);

  const config = approvalsConfig.parse({
    REEVE_APPROVALS_LISTEN: "127.0.0.1:0",
    REEVE_INTERNAL_TOKEN: "internal-token-of-a-test",
  });
  const service = resources.use(await startApprovals(config, { nats, log }, never));
  const client = createClient(ApprovalService, createGrpcTransport({ baseUrl: service.url }));
  const headers = principalHeaders({ tenant: "acme", subject: "ann" }, "internal-token-of-a-test");
  const grant = { scope: GrantScope.RUN, rule: "pay" };
  const refused = await client
    .decideApproval({ approvalId, approved: true, grant }, { headers })
    .then(() => undefined, failureFrom);
  expect(refused).toMatchObject({ kind: "unavailable", reason: ErrorReason.UNAVAILABLE });
  expect(refused?.message).toContain("reeve provision");
  const decided = await client.decideApproval({ approvalId, approved: true }, { headers });
  expect(decided.approval?.state).toBe(ApprovalState.APPROVED);
});

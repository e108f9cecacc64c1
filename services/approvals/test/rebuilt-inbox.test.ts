import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema } from "@reeve/contracts/run";
import { openRunLog } from "@reeve/jetstream/log/open";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import { openTable } from "@reeve/jetstream/table/nats";
import type { Table } from "@reeve/jetstream/table/port";
import type { ExternalFact } from "@reeve/run/commands/append-external";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import type { NatsServer } from "@reeve/platform/nats/nats-server";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { afterAll, beforeAll, expect, test } from "vitest";
import { approvalsConfig } from "../src/config.ts";
import { startApprovals } from "../src/serve.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");
const storeDir = mkdtempSync(join(tmpdir(), "reeve-inbox-"));

let server: NatsServer;
let nats: Nats;
let runLog: RunLog;
let inbox: Table<Approval>;

beforeAll(async () => {
  server = await startNatsServer({ storeDir, log }, never);
  nats = await connectNats(server.url, { name: "test", log }, never);
  runLog = await openRunLog(nats);
  inbox = await openTable(nats, ApprovalSchema);
});
afterAll(async () => {
  await nats[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  rmSync(storeDir, { recursive: true, force: true });
});

/** Creates a run that is parked with a pending approval. */
async function park(run: string, expiresMs: number): Promise<void> {
  const approval = {
    approvalId: `${run}-2-0`,
    runId: run,
    state: ApprovalState.PENDING,
    expiresAt: timestampFromMs(expiresMs),
  };
  const facts: readonly ExternalFact[] = [
    { case: "runCreated", value: { tenant: "acme" } },
    { case: "approval", value: { approval } },
    { case: "runParked", value: { waitingFor: [approval.approvalId] } },
  ];
  const events = facts.map((event, at) =>
    create(RunEventSchema, { runId: run, sequence: at + 1, event }),
  );
  await runLog.append({ tenant: "acme", run }, emptyTail, events, never);
}

async function listed(): Promise<Readonly<Record<string, ApprovalState>>> {
  const rows = await inbox.list("", never).catch(() => []);
  return Object.fromEntries(rows.map(({ record }) => [record.approvalId, record.state]));
}

const isExpiry = ({ event }: RunEvent) =>
  event.case === "approval" && event.value.approval?.state === ApprovalState.TIMED_OUT;

/** Resolves when the log of a run has the expiry of its approval. */
async function expired(run: string): Promise<void> {
  for await (const { events } of runLog.follow({ tenant: "acme", run }, 0, never)) {
    if (events.some(isExpiry)) return;
  }
}

// Requirement: HITL-6
test("an inbox whose bucket is deleted is restored with its expiries, while approvals are requested", async () => {
  const config = approvalsConfig.parse({
    REEVE_APPROVALS_LISTEN: "127.0.0.1:0",
    REEVE_INTERNAL_TOKEN: "internal-token-of-a-test",
  });
  await using _ = await startApprovals(config, { nats, log }, never);
  const later = Date.now() + 86_400_000;
  await park("run_waiting0", later);
  await park("run_expired0", Date.now() - 1_000);
  await expired("run_expired0");
  const { PENDING, TIMED_OUT } = ApprovalState;
  const before = { "run_waiting0-2-0": PENDING, "run_expired0-2-0": TIMED_OUT };
  await expect.poll(listed).toEqual(before);

  await park("run_expires0", Date.now() + 3_000);
  await nats.connection.request("$JS.API.STREAM.DELETE.KV_approvals");
  await park("run_later000", later);

  await expired("run_expires0");
  await expect
    .poll(listed, { timeout: 60_000 })
    .toEqual({ ...before, "run_expires0-2-0": TIMED_OUT, "run_later000-2-0": PENDING });
});

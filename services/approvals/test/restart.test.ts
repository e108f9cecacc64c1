import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalService, ApprovalState } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema } from "@reeve/contracts/run";
import type { ExternalFact } from "@reeve/run/commands/append-external";
import { emptyTail } from "@reeve/jetstream/log/port";
import { openRunLog } from "@reeve/jetstream/log/open";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import { principalHeaders } from "@reeve/platform/rpc/internal-principal";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import type { NatsServer } from "@reeve/platform/nats/nats-server";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { approvalsConfig } from "../src/config.ts";
import { startApprovals } from "../src/serve.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");
const storeDir = mkdtempSync(join(tmpdir(), "reeve-approvals-"));
const waiting = 600;

let server: NatsServer;
let nats: Nats;
let runLog: RunLog;

beforeAll(async () => {
  server = await startNatsServer({ storeDir, log }, never);
  nats = await connectNats(server.url, { name: "test", log }, never);
  runLog = await openRunLog(nats);
});
afterAll(async () => {
  await nats[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  rmSync(storeDir, { recursive: true, force: true });
});

const runOf = (index: number) => `run_${String(index).padStart(8, "0")}`;
const approvalOf = (index: number) => `${runOf(index)}-2-0`;

interface Due {
  readonly expiresMs: number;
  readonly escalatesMs: number;
}

/** Creates a run that is parked with a pending approval. */
async function park(index: number, { expiresMs, escalatesMs }: Due): Promise<void> {
  const run = runOf(index);
  const approval = {
    approvalId: approvalOf(index),
    runId: run,
    state: ApprovalState.PENDING,
    expiresAt: timestampFromMs(expiresMs),
    escalations: [
      {
        dueAt: timestampFromMs(escalatesMs),
        alternative: { name: "on-call", groups: ["on-call"], approvals: 1, denials: 1 },
      },
    ],
    // Ann decides, and later those on call, too.
    alternatives: [{ name: "1", people: ["ann"], approvals: 1, denials: 1 }],
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

/** Starts approvals with its own connection, as in its own process. */
async function start() {
  await using starting = new AsyncDisposableStack();
  const own = starting.use(await connectNats(server.url, { name: "approvals", log }, never));
  const config = approvalsConfig.parse({
    REEVE_APPROVALS_LISTEN: "127.0.0.1:0",
    REEVE_INTERNAL_TOKEN: "internal-token-of-a-test",
  });
  const { url } = starting.use(await startApprovals(config, { nats: own, log }, never));
  const headers = Object.entries(
    principalHeaders({ tenant: "acme", subject: "ann" }, "internal-token-of-a-test"),
  );
  const transport = createGrpcTransport({
    baseUrl: url,
    interceptors: [
      (next) => (request) => {
        for (const [name, value] of headers) request.header.set(name, value);
        return next(request);
      },
    ],
  });
  const client = createClient(ApprovalService, transport);
  const resources = starting.move();
  return {
    client,
    /** Resolves when the inbox has `count` approvals. */
    async hasFiled(count: number): Promise<void> {
      const filed = new Set<string>();
      for await (const { approvals } of client.watchApprovals({})) {
        for (const { approvalId } of approvals) filed.add(approvalId);
        if (filed.size >= count) return;
      }
    },
    async listed(isWanted: (approval: Approval) => boolean): Promise<readonly string[]> {
      const found: string[] = [];
      let pageToken = "";
      do {
        const request = { pageSize: 500, pageToken, includeClosed: true };
        const page = await client.listApprovals(request);
        found.push(...page.approvals.filter(isWanted).map(({ approvalId }) => approvalId));
        pageToken = page.nextPageToken;
      } while (pageToken !== "");
      return found.toSorted();
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

const isIn = (state: ApprovalState) => (approval: Approval) => approval.state === state;
const isEscalated = ({ escalations }: Approval) =>
  escalations.some(({ escalatedAt }) => escalatedAt !== undefined);

/** Resolves when the log of a run has such an approval. */
async function reached(index: number, isWanted: (approval: Approval) => boolean): Promise<void> {
  const ofWanted = ({ event }: RunEvent) =>
    event.case === "approval" &&
    event.value.approval !== undefined &&
    isWanted(event.value.approval);
  for await (const { events } of runLog.follow({ tenant: "acme", run: runOf(index) }, 0, never)) {
    if (events.some(ofWanted)) return;
  }
}

interface FeedInfo {
  readonly delivered: { readonly consumer_seq: number };
  readonly num_pending: number;
  readonly num_ack_pending: number;
}

/** Returns what the feed delivered to approvals, over all its processes. */
async function feedInfo(): Promise<FeedInfo> {
  const answer = await nats.connection.request("$JS.API.CONSUMER.INFO.RUNS.approvals-inbox");
  return answer.json<FeedInfo>();
}

async function deliveredBatches(): Promise<number> {
  return (await feedInfo()).delivered.consumer_seq;
}

/** Returns the number of batches that approvals has not acknowledged, delivered or not. */
async function unacknowledgedBatches(): Promise<number> {
  const { num_pending, num_ack_pending } = await feedInfo();
  return num_pending + num_ack_pending;
}

// Requirement: HITL-6
test("with many pending approvals, a restart resumes from the inbox, loses none, closes the expired ones, and escalates what is due", async () => {
  const all = Array.from({ length: waiting }, (_, index) => index);
  const expiring = all.slice(0, 20);
  const escalating = all.slice(20, 40);
  const waitOn = all.slice(40);
  const anHourAgoMs = Date.now() - 3_600_000;
  const tomorrowMs = Date.now() + 86_400_000;
  {
    await using first = await start();
    const later = { expiresMs: tomorrowMs, escalatesMs: tomorrowMs };
    await Promise.all(waitOn.map((index) => park(index, later)));
    await first.hasFiled(waitOn.length);
    // It reads existing logs when it starts, and may have filed an approval before the feed delivers it.
    await expect.poll(unacknowledgedBatches, { timeout: 30_000 }).toBe(0);
  }
  const expired = { expiresMs: anHourAgoMs, escalatesMs: tomorrowMs };
  await Promise.all(expiring.map((index) => park(index, expired)));
  const escalated = { expiresMs: tomorrowMs, escalatesMs: anHourAgoMs };
  await Promise.all(escalating.map((index) => park(index, escalated)));
  const before = await deliveredBatches();
  await using second = await start();
  const isTimedOut = isIn(ApprovalState.TIMED_OUT);
  await Promise.all(expiring.map((index) => reached(index, isTimedOut)));
  await Promise.all(escalating.map((index) => reached(index, isEscalated)));
  // The inbox follows the logs with a short delay.
  for (const [isWanted, those] of [
    [isTimedOut, expiring],
    [isEscalated, escalating],
  ] as const) {
    while ((await second.listed(isWanted)).length < those.length) await new Promise(setImmediate);
    expect(await second.listed(isWanted)).toEqual(those.map(approvalOf));
  }
  const waitingNow = await second.listed(isIn(ApprovalState.PENDING));
  expect(waitingNow).toEqual([...escalating, ...waitOn].map(approvalOf));
  // Delivers the expiries and escalations, but not all pending approvals again.
  expect((await deliveredBatches()) - before).toBeLessThan(waiting / 2);
  const approvalId = approvalOf(waitOn[0] ?? 0);
  const { approval } = await second.client.decideApproval({ approvalId, approved: true });
  expect(approval?.state).toBe(ApprovalState.APPROVED);
});

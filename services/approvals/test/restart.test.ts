import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalService, ApprovalState } from "@reeve/contracts/approval";
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
const folder = mkdtempSync(join(tmpdir(), "reeve-approvals-"));
const storeDir = join(folder, "store");
const clockFile = join(folder, "clock");
const { Date: realDate } = globalThis;
const hourMs = 3_600_000;
const waiting = 1_000;
/** How many approvals expire within the hour, and how many others escalate. */
const due = 25;
/** How many are requested while approvals is away. */
const late = 10;

let server: NatsServer;
let nats: Nats;
let runLog: RunLog;

async function startNats(): Promise<void> {
  server = await startNatsServer({ storeDir, log }, never);
  nats = await connectNats(server.url, { name: "test", log }, never);
  runLog = await openRunLog(nats);
}

async function stopNats(): Promise<void> {
  await nats[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
}

beforeAll(startNats);
afterAll(async () => {
  // Other files run in this process.
  globalThis.Date = realDate;
  delete process.env["CHAOS_CLOCK_FILE"];
  await stopNats();
  rmSync(folder, { recursive: true, force: true });
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

/** Sets the clock of this process ahead. */
async function setClockAhead(aheadMs: number): Promise<void> {
  writeFileSync(clockFile, String(aheadMs));
  process.env["CHAOS_CLOCK_FILE"] = clockFile;
  await import("../../../test/chaos/stepped-clock.ts");
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

const isWaiting = (approval: Approval) =>
  isIn(ApprovalState.PENDING)(approval) && !isEscalated(approval);

interface ConsumerInfo {
  readonly config: { readonly deliver_policy: string };
  readonly delivered: { readonly consumer_seq: number };
  readonly num_pending: number;
}

/** Returns how many batches the feed has brought to approvals since it was started, and how many it has yet to bring. */
async function readBatches(): Promise<{ readonly read: number; readonly left: number }> {
  const answer = await nats.connection.request("$JS.API.CONSUMER.LIST.RUNS", '{"offset":0}');
  const { consumers } = answer.json<{ readonly consumers: readonly ConsumerInfo[] }>();
  const feeds = consumers.filter(({ config }) => config.deliver_policy === "by_start_sequence");
  const sumOf = (count: (info: ConsumerInfo) => number) =>
    feeds.reduce((sum, info) => sum + count(info), 0);
  return {
    read: sumOf(({ delivered }) => delivered.consumer_seq),
    left: feeds.length === 0 ? Infinity : sumOf(({ num_pending }) => num_pending),
  };
}

/** The numbers of approvals with the same fate. */
function numbersFrom(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

/** Returns how many facts about its approval the log of a run has. */
async function factsOf(index: number): Promise<number> {
  const { events } = await runLog.read({ tenant: "acme", run: runOf(index) }, emptyTail, never);
  return events.filter(({ event }) => event.case === "approval").length;
}

// Requirement: HITL-6
test("with a thousand pending approvals, an hour in which nothing runs loses none, and those that were due expire and escalate once, and no others", async () => {
  const [expiring, escalating] = [numbersFrom(0, due), numbersFrom(due, due)];
  const waitOn = numbersFrom(2 * due, waiting - 2 * due);
  const soonMs = Date.now() + hourMs / 2;
  const laterMs = Date.now() + 12 * hourMs;
  const dueOf = (index: number): Due => ({
    expiresMs: index < due ? soonMs : laterMs,
    escalatesMs: index >= due && index < 2 * due ? soonMs : laterMs,
  });
  {
    await using first = await start();
    const early = numbersFrom(0, waiting - late);
    await Promise.all(early.map((index) => park(index, dueOf(index))));
    await first.hasFiled(early.length);
    // It reads existing logs when it starts, and may have filed an approval before the feed delivers it.
    await expect.poll(readBatches, { timeout: 60_000 }).toHaveProperty("left", 0);
    expect(await first.listed((approval) => !isWaiting(approval))).toEqual([]);
  }
  await Promise.all(numbersFrom(waiting - late, late).map((index) => park(index, dueOf(index))));
  await stopNats();
  await startNats();
  const beforeMs = Date.now();
  await setClockAhead(hourMs);
  expect(Date.now() - beforeMs).toBeGreaterThanOrEqual(hourMs);
  await using second = await start();
  const patient = { timeout: 120_000, interval: 1_000 };
  // The inbox follows the logs with a short delay.
  await expect
    .poll(() => second.listed(isIn(ApprovalState.TIMED_OUT)), patient)
    .toEqual(expiring.map(approvalOf));
  await expect.poll(() => second.listed(isEscalated), patient).toEqual(escalating.map(approvalOf));
  await expect.poll(() => second.listed(isWaiting), patient).toEqual(waitOn.map(approvalOf));
  expect(await second.listed(isIn(ApprovalState.PENDING))).toHaveLength(waiting - due);
  const facts = await Promise.all([...expiring, ...escalating].map(factsOf));
  expect(facts).toEqual(facts.map(() => 2));
  // Delivers the expiries and escalations, but not all pending approvals again.
  const { read } = await readBatches();
  expect(read).toBeGreaterThan(0);
  expect(read).toBeLessThan(waiting / 2);
  const approvalId = approvalOf(waitOn[0] ?? 0);
  const { approval } = await second.client.decideApproval({ approvalId, approved: true });
  expect(approval?.state).toBe(ApprovalState.APPROVED);
});

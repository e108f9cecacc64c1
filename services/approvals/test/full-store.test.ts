import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ApprovalState } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { RunEventSchema } from "@reeve/contracts/run";
import { emptyTail } from "@reeve/jetstream/log/port";
import { openRunLog } from "@reeve/jetstream/log/open";
import { openReserve } from "@reeve/jetstream/reserve/keep-reserve";
import { reserveFreed, reserveState } from "@reeve/jetstream/reserve/reserve-state";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { ExternalFact } from "@reeve/run/commands/append-external";
import { afterAll, beforeAll, expect, test } from "vitest";
import { approvalsConfig } from "../src/config.ts";
import { openOnce } from "../src/notify/notification-stores.ts";
import { startApprovals } from "../src/serve.ts";
import { notificationOf, settingsOf } from "./support/notifications.ts";

const log = createLogger("test", "silent");
const never = new AbortController().signal;
const resources = new AsyncDisposableStack();
let url: string;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "reeve-full-"));
  resources.defer(() => rmSync(folder, { recursive: true, force: true }));
  const storeDir = join(folder, "store");
  url = resources.use(await startNatsServer({ storeDir, log }, never)).url;
}, 60_000);
afterAll(() => resources.disposeAsync());

const connect = async () => resources.use(await connectNats(url, { name: "test", log }, never));

/** Returns how many notifications wait, and how many batches of runs were not turned into notifications yet. */
async function counts({ connection }: Awaited<ReturnType<typeof connect>>) {
  const ask = async (request: string) => (await connection.request(`$JS.API.${request}`)).json();
  const stream = (await ask("STREAM.INFO.NOTIFICATIONS")) as { state?: { messages: number } };
  const feed = (await ask("CONSUMER.INFO.RUNS.approvals-notify")) as { num_ack_pending?: number };
  return { queued: stream.state?.messages, unsettled: feed.num_ack_pending };
}

test("while the reserve of the store is in use, approvals queues no notification, and keeps it for later", async () => {
  const nats = await connect();
  const runLog = await openRunLog(nats);
  const approvals = await connect();
  const file = join(folder, "notify.yaml");
  writeFileSync(
    file,
    'receivers: [{ name: on-call, format: standard, url: "http://127.0.0.1:9/", secret: { environment: SECRET } }]\n',
  );
  const config = approvalsConfig.parse({
    REEVE_APPROVALS_LISTEN: "127.0.0.1:0",
    REEVE_INTERNAL_TOKEN: "internal-token-of-a-test",
    REEVE_NOTIFY: file,
    REEVE_PUBLIC_URL: "https://reeve.example.com",
  });
  const environment = { SECRET: `whsec_${Buffer.alloc(32).toString("base64")}` };
  await using _ = await startApprovals(config, { nats: approvals, log, environment }, never);
  await expect.poll(async () => (await counts(nats)).unsettled, { timeout: 20_000 }).toBe(0);

  // As long as nobody has filled the reserve, it is in use.
  await openReserve(nats);
  nats.connection.publish(reserveFreed);
  await expect.poll(() => reserveState(approvals.connection).isSpent).toBe(true);
  const run = "run_fullstore";
  const approvalId = `${run}-2-0`;
  const facts: readonly ExternalFact[] = [
    { case: "runCreated", value: { tenant: "acme" } },
    {
      case: "approval",
      value: { approval: { approvalId, runId: run, state: ApprovalState.PENDING } },
    },
    { case: "runParked", value: { waitingFor: [approvalId] } },
  ];
  const time = timestampFromMs(Date.now());
  const events = facts.map((event, index) =>
    create(RunEventSchema, { runId: run, sequence: index + 1, time, event }),
  );
  await runLog.append({ tenant: "acme", run }, emptyTail, events, never);
  await expect.poll(async () => (await counts(nats)).unsettled).toBe(1);
  expect((await counts(nats)).queued).toBe(0);
}, 60_000);

test("while the reserve is in use, what a receiver refused stays in its queue", async () => {
  const nats = await connect();
  const { deadLetters } = await openOnce(nats, settingsOf(), 1_000)();
  const givenUp = { notification: notificationOf(), problem: "refused", attempts: 5, nowMs: 0 };
  reserveState(nats.connection).isSpent = true;
  await expect(deadLetters.add(givenUp, never)).rejects.toMatchObject({
    reason: ErrorReason.STORAGE_FULL,
  });
  reserveState(nats.connection).isSpent = false;
  await deadLetters.add(givenUp, never);
}, 60_000);

import { create } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { RunCreatedSchema, RunStatus } from "@reeve/contracts/run";
import { openCallJournal, openRunLog, openThreadLog } from "@reeve/jetstream/log/open";
import { openDispatchQueue } from "@reeve/jetstream/queue/dispatch";
import { reserveState } from "@reeve/jetstream/reserve/reserve-state";
import { openJetStreamManager } from "@reeve/jetstream/streams/ensure-stream";
import { startSmallNats } from "@reeve/jetstream/test/small-nats";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { requestClientOf } from "@reeve/platform/nats/request-client";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { startTurn } from "@reeve/run/thread/start-turn";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { gatewayConfig } from "../src/config.ts";
import { startGateway } from "../src/serve.ts";
import type { Clients } from "./support/clients.ts";
import { clientsOf } from "./support/clients.ts";

const log = createLogger("test", "silent");
const never = new AbortController().signal;
const storeBytes = 24 * 1024 * 1024;
const reserveBytes = 2 * 1024 * 1024;
const key = { tenant: "acme", thread: "thr_full" };
const resources = new AsyncDisposableStack();
const [large, waiting] = ["run_aaaaaaaa", "run_bbbbbbbb"];
let nats: Nats;
let gatewayNats: Nats;
let clients: Clients;

beforeAll(async () => {
  const server = resources.use(await startSmallNats(storeBytes));
  const connect = async () =>
    resources.use(await connectNats(server.url, { name: "test", log }, never));
  nats = await connect();
  const config = gatewayConfig.parse({
    REEVE_LISTEN: "127.0.0.1:0",
    REEVE_TOKENS: "token-of-ann=acme/ann",
    // Nothing listens on this port.
    REEVE_APPROVALS_URL: "http://127.0.0.1:1",
    REEVE_STORE_RESERVE_BYTES: String(reserveBytes),
    REEVE_AUDIT: "required",
  });
  gatewayNats = await connect();
  const gateway = resources.use(await startGateway(config, { nats: gatewayNats, log }, never));
  clients = clientsOf(gateway.url, "Bearer token-of-ann", "gRPC");
  const { streams } = await openJetStreamManager(nats.connection);
  const isWhole = async () => {
    const state = await streams.info("RESERVE").then((info) => info.state);
    expect(state.bytes).toBeGreaterThan(reserveBytes);
  };
  await vi.waitFor(isWhole, { timeout: 20_000 });
  // The turn has the input of its run.
  await startRun(large, "x".repeat(500_000));
  await startRun(waiting, "next");
  await fill();
}, 60_000);

afterAll(() => resources.disposeAsync());

async function startRun(runId: string, input: string): Promise<void> {
  const fields = { ...key, threadId: key.thread, input, requestId: runId, startedBy: "ann" };
  const created = create(RunCreatedSchema, { ...fields, requestHash: Buffer.from(runId) });
  const ports = {
    log: await openRunLog(nats),
    threads: await openThreadLog(nats),
    journal: await openCallJournal(nats),
    dispatch: await openDispatchQueue(nats, { ackWaitMs: 15_000 }),
  };
  const runCreated = anyPack(RunCreatedSchema, created);
  await startTurn(ports, key, { runId, runCreated, whenBusy: "queue" }, created, never);
}

/** Fills the store, until it has room for less than a row. */
async function fill(): Promise<void> {
  const { streams } = await openJetStreamManager(nats.connection);
  await streams.add({ name: "OTHER", subjects: ["other"] });
  const requests = requestClientOf(nats.connection);
  for (const size of [256 * 1024, 16 * 1024, 1024, 64]) {
    for (let isFull = false; !isFull;) {
      const reply = await requests.send("other", { data: new Uint8Array(size) });
      isFull = reply?.json<{ readonly error?: unknown }>().error !== undefined;
    }
  }
}

test("in a full store, repeated changes are counted, so that they do not use up the reserve", async () => {
  const { runs } = clients;
  const { streams } = await openJetStreamManager(nats.connection);
  const recorded = async () => (await streams.info("AUDIT")).state.messages;
  await runs.cancelRun({ runId: waiting });
  await expect.poll(() => reserveState(gatewayNats.connection).isSpent).toBe(true);
  const before = await recorded();
  for (let time = 0; time < 50; time++) await runs.cancelRun({ runId: waiting });
  expect(await recorded()).toBeLessThan(before + 10);
});

test("in a full store, the runs of a thread with a large turn can be cancelled and deleted, and so can the thread", async () => {
  const { runs, threads } = clients;
  for (const runId of [large, waiting]) {
    const { run } = await runs.cancelRun({ runId, reason: "enough" });
    expect(run?.status).toBe(RunStatus.CANCELLED);
    expect(await runs.deleteRun({ runId })).toMatchObject({ existed: true });
  }
  await threads.deleteThread({ threadId: key.thread });
}, 60_000);

import { createLogger } from "@reeve/platform/telemetry/logger";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { requestClientOf } from "@reeve/platform/nats/request-client";
import type { Clock } from "@reeve/platform/async/clock";
import { onAbort } from "@reeve/platform/async/on-abort";
import { headers } from "@nats-io/transport-node";
import { expect, test } from "vitest";
import { keepReserve, openReserve } from "../src/reserve/keep-reserve.ts";
import { reserveState, reserveStream } from "../src/reserve/reserve-state.ts";
import { openJetStreamManager } from "../src/streams/ensure-stream.ts";
import { StreamPublisher } from "../src/streams/stream-publisher.ts";
import { startSmallNats } from "./small-nats.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");
const storeBytes = 16 * 1024 * 1024;
const reserveBytes = 4 * 1024 * 1024;
const content = new Uint8Array(256 * 1024);

/** A clock whose sleep never ends, so that `keepReserve` checks the reserve once. */
const stopped: Clock = {
  now: () => 0,
  sleep: async (_delayMs, signal) => {
    const { promise, reject } = Promise.withResolvers<never>();
    using _ = onAbort(signal, () => reject(signal.reason));
    await promise;
  },
};

async function open(url: string): Promise<Nats> {
  return await connectNats(url, { name: "test", log }, never);
}

async function storedChunks({ connection }: Nats): Promise<number> {
  const { streams } = await openJetStreamManager(connection);
  return (await streams.info(reserveStream)).state.messages;
}

/** Fills the store, without the use of the reserve. */
async function fillStore({ connection }: Nats): Promise<void> {
  const { streams } = await openJetStreamManager(connection);
  await streams.add({ name: "OTHER", subjects: ["other"] });
  const requests = requestClientOf(connection);
  for (let isFull = false; !isFull;) {
    const reply = await requests.send("other", { data: content });
    isFull = reply?.json<{ readonly error?: unknown }>().error !== undefined;
  }
}

test("a process that keeps the reserve knows at once that another one freed it", async () => {
  await using server = await startSmallNats(storeBytes);
  await using keeper = await open(server.url);
  await using writer = await open(server.url);
  const end = new AbortController();
  const keeping = keepReserve(keeper, { bytes: reserveBytes, clock: stopped, log }, end.signal);
  await expect.poll(() => storedChunks(writer).catch(() => 0), { timeout: 20_000 }).toBe(32);
  await fillStore(writer);
  expect(reserveState(keeper.connection).isSpent).toBe(false);

  const publisher = new StreamPublisher(writer.connection);
  expect(await publisher.publish("other", content, headers())).toMatchObject({ kind: "stored" });
  await expect.poll(() => reserveState(keeper.connection).isSpent, { timeout: 20_000 }).toBe(true);
  expect(await storedChunks(writer)).toBe(0);
  end.abort();
  await expect(keeping).rejects.toThrow("aborted");
}, 60_000);

test("a process that fills the reserve removes nothing that another one has just put there", async () => {
  await using server = await startSmallNats(storeBytes);
  await using keeper = await open(server.url);
  await using other = await open(server.url);
  let purges = 0;
  const requests = `$JS.API.STREAM.PURGE.${reserveStream}`;
  const count = () => {
    purges++;
  };
  other.connection.subscribe(requests, { callback: count });
  await openReserve(other);
  await requestClientOf(other.connection).send("reserve.0", { data: content.subarray(1) });
  const end = new AbortController();
  const keeping = keepReserve(keeper, { bytes: reserveBytes, clock: stopped, log }, end.signal);
  await expect.poll(() => storedChunks(other)).toBe(32);
  await other.connection.flush();
  expect(purges).toBe(0);
  end.abort();
  await expect(keeping).rejects.toThrow("aborted");
}, 60_000);

test("a process that keeps no reserve never takes it for spent", async () => {
  await using server = await startSmallNats(storeBytes);
  await using writer = await open(server.url);
  await openReserve(writer);
  await fillStore(writer);
  const publisher = new StreamPublisher(writer.connection);
  expect(await publisher.publish("other", content, headers())).toMatchObject({ kind: "refused" });
  expect(reserveState(writer.connection).isSpent).toBe(false);
}, 60_000);

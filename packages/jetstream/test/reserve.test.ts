import { createLogger } from "@reeve/platform/telemetry/logger";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { requestClientOf } from "@reeve/platform/nats/request-client";
import type { Clock } from "@reeve/platform/async/clock";
import { onAbort } from "@reeve/platform/async/on-abort";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { headers } from "@nats-io/transport-node";
import { expect, test } from "vitest";
import { issueCredentials, writeServerUsers } from "../src/access/server-users.ts";
import { keepReserve, openReserve } from "../src/reserve/keep-reserve.ts";
import { reserveFreed, reserveState, reserveStream } from "../src/reserve/reserve-state.ts";
import { untilReserveIsKnown, watchReserve } from "../src/reserve/watch-reserve.ts";
import { openJetStreamManager } from "../src/streams/ensure-stream.ts";
import { StreamPublisher } from "../src/streams/stream-publisher.ts";
import { startSmallNats } from "./small-nats.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");
const storeBytes = 16 * 1024 * 1024;
const reserveBytes = 4 * 1024 * 1024;
const urgent = { usesReserve: true };
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

/** As `stopped`, but a look because of an announcement is followed by others: a reconnection of a busy process is one, too. */
const onlyAnnounced: Clock = {
  ...stopped,
  sleep: async (delayMs, signal) => {
    if (delayMs > 1_000) await stopped.sleep(delayMs, signal);
  },
};

/** A clock that stands still, and passes on command, which ends the sleeps that are due then. */
function steppedClock(): Clock & { pass(ms: number): void; readonly isAwaited: boolean } {
  let now = 0;
  const sleepers = new Map<() => void, number>();
  return {
    get isAwaited() {
      return sleepers.size > 0;
    },
    now: () => now,
    sleep: async (delayMs, signal) => {
      if (delayMs <= 0) return;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      using _ = onAbort(signal, () => reject(signal.reason));
      sleepers.set(resolve, now + delayMs);
      await promise.finally(() => sleepers.delete(resolve));
    },
    pass: (ms) => {
      now += ms;
      for (const [wake, dueMs] of sleepers) if (dueMs <= now) wake();
    },
  };
}

async function open(url: string): Promise<Nats> {
  return await connectNats(url, { name: "test", log }, never);
}

async function storedChunks({ connection }: Nats): Promise<number> {
  const { streams } = await openJetStreamManager(connection);
  return (await streams.info(reserveStream)).state.messages;
}

/** Fills the store with messages of a size, and then with the sizes that follow, without the use of the reserve. */
async function fillStore({ connection }: Nats, sizes = [content.length]): Promise<void> {
  const { streams } = await openJetStreamManager(connection);
  await streams.add({ name: "OTHER", subjects: ["other"] });
  const requests = requestClientOf(connection);
  for (const size of sizes) {
    for (let isFull = false; !isFull;) {
      const reply = await requests.send("other", { data: content.subarray(0, size) });
      isFull = reply?.json<{ readonly error?: unknown }>().error !== undefined;
    }
  }
}

test("a process that keeps the reserve knows at once that another one freed it", async () => {
  await using server = await startSmallNats(storeBytes);
  await using keeper = await open(server.url);
  await using writer = await open(server.url);
  const end = new AbortController();
  const keeping = keepReserve(
    keeper,
    { bytes: reserveBytes, clock: onlyAnnounced, log },
    end.signal,
  );
  await expect.poll(() => storedChunks(writer).catch(() => 0), { timeout: 20_000 }).toBe(32);
  await fillStore(writer);
  expect(reserveState(keeper.connection).isSpent).toBe(false);

  const publisher = new StreamPublisher(writer.connection);
  expect(await publisher.publish("other", content, headers(), urgent)).toMatchObject({
    kind: "stored",
  });
  await expect.poll(() => reserveState(keeper.connection).isSpent, { timeout: 20_000 }).toBe(true);
  expect(await storedChunks(writer)).toBe(0);
  end.abort();
  await expect(keeping).rejects.toThrow("aborted");
}, 60_000);

test("what may not use the reserve is refused in all processes from the moment at which it is freed until it is whole", async () => {
  await using server = await startSmallNats(storeBytes);
  await using keeper = await open(server.url);
  await using writer = await open(server.url);
  await using other = await open(server.url);
  const end = new AbortController();
  const { signal } = end;
  const time = steppedClock();
  const keeping = keepReserve(keeper, { bytes: reserveBytes, clock: time, log }, signal);
  const watching = watchReserve(other, { log, lookMs: 100 }, signal);
  await expect.poll(() => storedChunks(writer).catch(() => 0), { timeout: 20_000 }).toBe(32);
  await fillStore(writer);
  const small = new Uint8Array(10);
  const text = new StreamPublisher(other.connection);
  const publish = () => text.publish("other", content, headers(), { usesReserve: false });
  // A full store does not free its reserve for it.
  expect(await publish()).toMatchObject({ kind: "refused" });
  expect(await storedChunks(writer)).toBe(32);

  const urgentWriter = new StreamPublisher(writer.connection);
  expect(await urgentWriter.publish("other", content, headers(), urgent)).toMatchObject({
    kind: "stored",
  });
  await expect.poll(() => reserveState(other.connection).isSpent).toBe(true);
  // The store has room for this, but the room is for others.
  expect(await text.publish("other", small, headers(), { usesReserve: false })).toMatchObject({
    kind: "refused",
  });
  const { streams } = await openJetStreamManager(writer.connection);
  await streams.purge("OTHER");
  const isSpent = () => {
    if (time.isAwaited) time.pass(5_000);
    return reserveState(other.connection).isSpent;
  };
  await expect.poll(isSpent, { timeout: 20_000 }).toBe(false);
  expect(await storedChunks(writer)).toBe(32);
  expect(await publish()).toMatchObject({ kind: "stored" });
  end.abort();
  await Promise.allSettled([keeping, watching]);
}, 60_000);

test("a reserve that is freed as soon as it is filled is filled again after ten seconds", async () => {
  await using server = await startSmallNats(storeBytes);
  await using keeper = await open(server.url);
  await using writer = await open(server.url);
  const end = new AbortController();
  const time = steppedClock();
  const keeping = keepReserve(keeper, { bytes: reserveBytes, clock: time, log }, end.signal);
  await expect.poll(() => storedChunks(writer).catch(() => 0), { timeout: 20_000 }).toBe(32);
  const { streams } = await openJetStreamManager(writer.connection);
  await streams.add({ name: "ROWS", subjects: ["row"], max_msgs_per_subject: 1 });
  await fillStore(writer, [256 * 1024, 16 * 1024, 1024, 64]);
  const lastSequence = async () => (await streams.info(reserveStream)).state.last_seq;
  const before = await lastSequence();

  // A row takes room only until its last version is removed.
  const rows = new StreamPublisher(writer.connection);
  await rows.publish("row", content.subarray(0, 600), headers(), urgent);
  await expect.poll(() => reserveState(keeper.connection).isSpent, { timeout: 20_000 }).toBe(true);
  let announcements = 0;
  writer.connection.subscribe(reserveFreed, { callback: () => void announcements++ });
  // The keeper announces after each look that leaves the reserve empty, every five seconds.
  const untilAnnounced = () => {
    if (time.isAwaited) time.pass(500);
    return announcements;
  };
  await expect.poll(untilAnnounced, { timeout: 20_000 }).toBeGreaterThan(0);
  expect(await lastSequence()).toBe(before);
  const untilFilled = () => {
    if (time.isAwaited) time.pass(5_000);
    return storedChunks(writer);
  };
  await expect.poll(untilFilled, { timeout: 20_000 }).toBe(32);
  expect(time.now()).toBeGreaterThanOrEqual(10_000);
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

test.each<[string, (writer: Nats, watcher: Nats) => unknown]>([
  ["is filled", ({ connection }) => connection.publish("reserve.0", content)],
  [
    "is said to be in use",
    (_, { connection }) => {
      reserveState(connection).isSpent = true;
    },
  ],
])(
  "a process that starts does not know an empty reserve until it %s",
  async (_, learn) => {
    await using server = await startSmallNats(storeBytes);
    await using writer = await open(server.url);
    await using watcher = await open(server.url);
    await untilReserveIsKnown(watcher, never);
    await openReserve(writer);
    let looks = 0;
    writer.connection.subscribe(`$JS.API.STREAM.INFO.${reserveStream}`, {
      callback: () => void looks++,
    });
    await writer.connection.flush();
    let isKnown = false;
    const wait = async () => {
      await untilReserveIsKnown(watcher, never);
      isKnown = true;
    };
    const known = wait();
    await expect.poll(() => looks).toBeGreaterThanOrEqual(2);
    expect(isKnown).toBe(false);
    learn(writer, watcher);
    await known;
  },
  60_000,
);

test("an announcement stops nothing while the reserve is whole, and costs a look at most every half second", async () => {
  await using server = await startSmallNats(storeBytes);
  await using keeper = await open(server.url);
  await using liar = await open(server.url);
  const looks: string[] = [];
  liar.connection.subscribe(`$JS.API.STREAM.INFO.${reserveStream}`, {
    callback: (_, { subject }) => {
      looks.push(subject);
    },
  });
  const end = new AbortController();
  const keeping = keepReserve(keeper, { bytes: reserveBytes, clock: stopped, log }, end.signal);
  await expect.poll(() => storedChunks(liar).catch(() => 0), { timeout: 20_000 }).toBe(32);
  await liar.connection.flush();
  await keeper.connection.flush();
  const before = looks.length;
  for (let time = 0; time < 100; time++) liar.connection.publish(reserveFreed);
  await liar.connection.flush();
  await expect.poll(() => looks.length).toBeGreaterThan(before);
  await keeper.connection.flush();
  expect(reserveState(keeper.connection).isSpent).toBe(false);
  expect(looks.length).toBe(before + 1);
  end.abort();
  await expect(keeping).rejects.toThrow("aborted");
}, 60_000);

test("a reserve that was deleted is reported by name, and nothing counts as spent", async () => {
  using cleanup = new DisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "reeve-reserve-"));
  cleanup.defer(() => rmSync(folder, { recursive: true }));
  const configFile = join(folder, "nats.conf");
  const credentials = issueCredentials();
  writeServerUsers(configFile, credentials);
  const options = { storeDir: join(folder, "store"), configFile, log };
  await using server = await startNatsServer(options, never);
  const connected = async (name: "gateway" | "operator") =>
    await connectNats(server.url, { name, log, ...credentials[name] }, never);
  await using operator = await connected("operator");
  await using gateway = await connected("gateway");
  await openReserve(operator);
  const { streams } = await openJetStreamManager(operator.connection);
  await streams.purge(reserveStream);
  reserveState(gateway.connection).isSpent = true;
  await streams.delete(reserveStream);
  const lines: string[] = [];
  const noted = createLogger("test", "error", { write: (line: string) => void lines.push(line) });
  const end = new AbortController();
  const keeper = { bytes: reserveBytes, clock: stopped, log: noted };
  const keeping = keepReserve(gateway, keeper, end.signal);
  await expect.poll(() => reserveState(gateway.connection).isSpent).toBe(false);
  expect(lines.join("")).toContain("stream RESERVE is missing");
  end.abort();
  await expect(keeping).rejects.toThrow("aborted");
}, 60_000);

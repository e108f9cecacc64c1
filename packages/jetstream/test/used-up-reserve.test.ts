import { headers } from "@nats-io/transport-node";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { requestClientOf } from "@reeve/platform/nats/request-client";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { openReserve } from "../src/reserve/keep-reserve.ts";
import { reserveFreed, reserveState, reserveStream } from "../src/reserve/reserve-state.ts";
import { watchReserve } from "../src/reserve/watch-reserve.ts";
import { openJetStreamManager } from "../src/streams/ensure-stream.ts";
import { StreamPublisher } from "../src/streams/stream-publisher.ts";
import { startSmallNats } from "./small-nats.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");
const content = new Uint8Array(256 * 1024);

async function open(url: string): Promise<Nats> {
  return await connectNats(url, { name: "test", log }, never);
}

/** Counts the requests and announcements with a subject. */
function counted({ connection }: Nats, subject: string): () => number {
  let count = 0;
  connection.subscribe(subject, { callback: () => void count++ });
  return () => count;
}

test("a used-up reserve is not freed again for each write, and in a process that keeps none it does not count as spent", async () => {
  await using server = await startSmallNats(16 * 1024 * 1024);
  await using writer = await open(server.url);
  await openReserve(writer);
  const { streams } = await openJetStreamManager(writer.connection);
  await streams.add({ name: "OTHER", subjects: ["other"] });
  const requests = requestClientOf(writer.connection);
  const fill = async () => {
    for (let isFull = false; !isFull;) {
      const reply = await requests.send("other", { data: content });
      isFull = reply?.json<{ readonly error?: unknown }>().error !== undefined;
    }
  };
  await fill();
  const purges = counted(writer, `$JS.API.STREAM.PURGE.${reserveStream}`);
  const publisher = new StreamPublisher(writer.connection);
  const publish = () => publisher.publish("other", content, headers(), { usesReserve: true });
  expect(await publish()).toMatchObject({ kind: "refused" });
  await writer.connection.flush();
  const before = purges();
  expect(before).toBeGreaterThan(1);
  for (let time = 0; time < 3; time++) expect(await publish()).toMatchObject({ kind: "refused" });
  await writer.connection.flush();
  expect(purges()).toBe(before);
  expect(reserveState(writer.connection).isSpent).toBe(false);
  await streams.purge("OTHER");
  expect(await publish()).toMatchObject({ kind: "stored" });
  // A reserve that was filled again meanwhile is freed again.
  await requests.send("reserve.0", { data: content });
  await fill();
  expect(await publish()).toMatchObject({ kind: "stored" });
  await writer.connection.flush();
  expect(purges()).toBeGreaterThan(before);
}, 60_000);

test("a reserve that was freed stays in use while no gateway announces it, until it has content again", async () => {
  await using server = await startSmallNats(16 * 1024 * 1024);
  await using writer = await open(server.url);
  await using watcher = await open(server.url);
  await openReserve(writer);
  const looks = counted(writer, `$JS.API.STREAM.INFO.${reserveStream}`);
  const end = new AbortController();
  const options = { log, lookMs: 20, maxSilenceMs: 100 };
  const watching = watchReserve(watcher, options, end.signal);
  await watcher.connection.flush();
  const state = reserveState(watcher.connection);
  const isSpent = () => state.isSpent;
  // Nobody has ever kept this reserve.
  writer.connection.publish(reserveFreed);
  await expect.poll(isSpent).toBe(true);
  await expect.poll(isSpent, { timeout: 20_000 }).toBe(false);

  const requests = requestClientOf(writer.connection);
  await requests.send("reserve.0", { data: content });
  await requests.send(`$JS.API.STREAM.PURGE.${reserveStream}`, {});
  const announce = () => {
    writer.connection.publish(reserveFreed);
    return state.isSpent;
  };
  await expect.poll(announce, { timeout: 20_000 }).toBe(true);
  const before = looks();
  await expect.poll(looks, { timeout: 20_000 }).toBeGreaterThan(before + 20);
  expect(state.isSpent).toBe(true);
  await requests.send("reserve.0", { data: content });
  await expect.poll(isSpent, { timeout: 20_000 }).toBe(false);
  end.abort();
  await expect(watching).rejects.toThrow("aborted");
}, 60_000);

import { afterAll, beforeAll, expect, test } from "vitest";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import type { ObjectStore } from "@nats-io/obj";
import { Objm } from "@nats-io/obj";
import { openObjects } from "../src/objects/nats.ts";
import { NatsBytes, openBytes } from "../src/objects/nats-bytes.ts";
import type { Objects } from "../src/objects/port.ts";
import { chunks, maxBytes, textOf } from "./support/artifact-contract.ts";
import type { NatsUnderTest } from "./nats-under-test.ts";
import { startNatsUnderTest } from "./nats-under-test.ts";
import { objectsContract } from "./support/objects-contract.ts";

let server: NatsUnderTest;
let objects: Objects;

beforeAll(async () => {
  server = await startNatsUnderTest();
  objects = await openObjects(server.nats, { bucket: "test", maxBytes });
});
afterAll(() => server[Symbol.asyncDispose]());

objectsContract("NATS", () => objects);

test("neither removed objects nor content that is stored again leave messages behind", async () => {
  const { signal } = new AbortController();
  const manager = await jetstreamManager(server.nats.connection);
  const messages = async () => (await manager.streams.info("OBJ_test")).state.messages;
  const before = await messages();
  const { name } = await objects.write("acme/w/+?>/~~", chunks("a"), signal);
  expect(await messages()).toBe(before + 2);
  await objects.write("acme/w/+?>/~~", chunks("a"), signal);
  expect(await messages()).toBe(before + 2);
  await objects.remove(name, signal);
  expect(await messages()).toBe(before);
  await objects.write("acme/w/+?>/~~", chunks("a"), signal);
  const listed = (await objects.list(signal)).find((object) => object.name === name);
  expect(listed && (await objects.removeUnchanged(listed, signal))).toBe(true);
  expect(await messages()).toBe(before);
});

test("an object with any name can be read and removed", async () => {
  const { signal } = new AbortController();
  const name = "acme/run_1/0011223344556677";
  const bytes = await openBytes(server.nats.connection, "test");
  await bytes.write(name, {}, chunks("old"));
  const content = await objects.read(name, signal);
  expect(content && (await textOf(content))).toBe("old");
  await objects.remove(name, signal);
  expect(await objects.read(name, signal)).toBeUndefined();
});

test("a clean-up removes the bytes of a dead writer, but no object with a name", async () => {
  const { signal } = new AbortController();
  const { name } = await objects.write("acme/w", chunks("kept"), signal);
  server.nats.connection.publish("$O.test.C.UNUSEDNUID", Buffer.from("half"));
  await server.nats.connection.flush();
  const manager = await jetstreamManager(server.nats.connection);
  const orphan = () =>
    manager.streams.getMessage("OBJ_test", { last_by_subj: "$O.test.C.UNUSEDNUID" });
  await expect.poll(orphan).not.toBeNull();
  await objects.cleanUp(60_000, signal);
  expect(await orphan()).not.toBeNull();
  await objects.cleanUp(0, signal);
  expect(await orphan()).toBeNull();
  expect(await objects.read(name, signal)).toBeDefined();
});

test("a clean-up removes nothing when the list of names lacks the last ones", async () => {
  const { signal } = new AbortController();
  const { connection } = server.nats;
  const { name } = await objects.write("acme/w", chunks("in use"), signal);
  const store = await new Objm(jetstream(connection)).open("test");
  const stale = new Proxy(store, {
    get: (target, method: keyof ObjectStore) =>
      method === "list" ? () => Promise.resolve([]) : target[method].bind(target),
  });
  const cleanUp = new NatsBytes(connection, "test", stale).cleanUp(0, signal);
  await expect(cleanUp).rejects.toMatchObject({ kind: "unavailable" });
  const content = await objects.read(name, signal);
  expect(content && (await textOf(content))).toBe("in use");
});

/** The bytes of one chunk of an object. */
const chunkBytes = 128 * 1024;

/** Stores an object of many chunks in a bucket of its own. */
async function largeObject(bucket: string) {
  const { signal } = new AbortController();
  const store = await openObjects(server.nats, { bucket, maxBytes: 2 ** 30 });
  const { name, sizeBytes: size } = await store.write(
    "large",
    chunks(
      ..."x"
        .repeat(64)
        .split("")
        .map((x) => x.repeat(chunkBytes)),
    ),
    signal,
  );
  const read = async () => {
    const content = await store.read(name, signal);
    if (content === undefined) throw new Error("the object is missing");
    return content[Symbol.asyncIterator]();
  };
  return { name, size, read };
}

test("the connection receives a chunk only when its reader has consumed the one before", async () => {
  const { connection } = server.nats;
  const { size, read } = await largeObject("slow");
  const readers = await Promise.all(Array.from({ length: 8 }, read));
  const before = connection.stats().inBytes;
  await Promise.all(readers.map((reader) => reader.next()));
  // What the server has sent until then has arrived when it answers these.
  for (let at = 0; at < 20; at++) await connection.flush();
  expect(connection.stats().inBytes - before).toBeLessThan(16 * 2 * chunkBytes);
  for (const reader of readers) {
    let received = chunkBytes;
    for (let next = await reader.next(); next.done !== true; next = await reader.next()) {
      received += next.value.length;
    }
    expect(received).toBe(size);
  }
});

test("a read fails when chunks are lost meanwhile", async () => {
  const { name, read } = await largeObject("losing");
  const reader = await read();
  await reader.next();
  const { streams } = await jetstreamManager(server.nats.connection);
  await streams.purge("OBJ_losing", { filter: "$O.losing.C.>" });
  await expect(reader.next()).rejects.toMatchObject({
    kind: "internal",
    message: `the stored object ${name} is damaged: chunk 2 of 64 is missing; store it again`,
  });
});

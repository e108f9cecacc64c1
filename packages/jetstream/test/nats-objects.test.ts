import { afterAll, beforeAll, expect, test } from "vitest";
import { jetstreamManager } from "@nats-io/jetstream";
import { openObjects } from "../src/objects/nats.ts";
import type { Objects } from "../src/objects/port.ts";
import { chunks, maxBytes } from "./support/artifact-contract.ts";
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

test("a removed object leaves no message behind", async () => {
  const { signal } = new AbortController();
  const manager = await jetstreamManager(server.nats.connection);
  const before = await manager.streams.info("OBJ_test");
  await objects.write("acme/w/+?>/~~", chunks("a"), signal);
  await objects.remove("acme/w/+?>/~~", signal);
  const after = await manager.streams.info("OBJ_test");
  expect(after.state.messages).toBe(before.state.messages);
});

test("a clean-up removes the bytes of a dead writer, but no object with a name", async () => {
  const { signal } = new AbortController();
  await objects.write("acme/w/kept", chunks("kept"), signal);
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
  expect(await objects.read("acme/w/kept", signal)).toBeDefined();
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { freePort } from "../../../test/support/free-ports.ts";
import type { Nats } from "../src/nats/connect-nats.ts";
import { connectNats } from "../src/nats/connect-nats.ts";
import { connectionStateOf } from "../src/nats/connection-state.ts";
import type { NatsServer } from "../src/nats/nats-server.ts";
import { startNatsServer } from "../src/nats/nats-server.ts";
import { createLogger } from "../src/telemetry/logger.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");
const folder = mkdtempSync(join(tmpdir(), "reeve-connect-"));
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

/** Resolves when the connection is lost, or open again. */
async function next(nats: Nats, isUp: boolean): Promise<void> {
  const state = connectionStateOf(nats.connection);
  const { promise, resolve } = Promise.withResolvers<void>();
  const remove = state.onChange((now) => {
    if (now === isUp) resolve();
  });
  await promise;
  remove();
}

async function serverAt(port: number, name: string): Promise<NatsServer> {
  return await startNatsServer({ storeDir: join(folder, name), port, log }, never);
}

// Requirement: DUR-3
test("a connection that is lost after the wall clock was set back is opened again", async () => {
  const port = await freePort();
  const before = await serverAt(port, "a");
  await using nats = await connectNats(before.url, { name: "test", log }, never);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 3_600_000 });
  const lost = next(nats, false);
  await before[Symbol.asyncDispose]();
  await lost;
  const open = next(nats, true);
  await using _ = await serverAt(port, "a");
  await open;
  await expect(nats.connection.flush()).resolves.toBeUndefined();
});

test("a client with several URLs connects while one of the servers runs, at its start and later", async () => {
  const ports = [await freePort(), await freePort(), await freePort()];
  const urls = ports.map((port) => `nats://127.0.0.1:${port}`).join(",");
  const [, second = 0, third = 0] = ports;
  const b = await serverAt(second, "b");
  await using nats = await connectNats(urls, { name: "test", log }, never);
  const open = next(nats, true);
  await b[Symbol.asyncDispose]();
  await using _ = await serverAt(third, "c");
  await open;
  expect(nats.connection.getServer()).toContain(String(third));
});

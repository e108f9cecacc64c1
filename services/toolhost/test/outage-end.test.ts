import { once } from "node:events";
import { join } from "node:path";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { temporaryFolder } from "@reeve/sandbox/test/support/temporary-folder";
import { expect, test } from "vitest";
import { startToolhostProcess } from "./support/toolhost-process.ts";

const log = createLogger("test", "silent");
const signal = new AbortController().signal;
/** Longer than the test may take: running calls could have that much time, but there is none. */
const settings = { REEVE_DRAIN_MS: "3600000" };

test("a toolhost without calls ends while NATS is away, however long calls may take to end", async () => {
  await using resources = new AsyncDisposableStack();
  const folder = resources.use(await temporaryFolder()).path;
  const server = await startNatsServer({ storeDir: join(folder, "nats"), log }, signal);
  const host = await startToolhostProcess({ natsUrl: server.url, folder, settings }, resources);
  await server[Symbol.asyncDispose]();
  const ended = once(host, "exit");
  host.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
});

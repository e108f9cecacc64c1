import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@reeve/platform/logger";
import { connectNats } from "@reeve/platform/nats";
import { startNatsServer } from "@reeve/platform/nats-server";
import { jetstreamManager } from "@nats-io/jetstream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { exitCodes } from "../src/exit-code.ts";
import { runCli } from "../src/run-cli.ts";
import { memoryTerminal } from "../src/testing.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");
const resources = new AsyncDisposableStack();
let environment: Readonly<Record<string, string>>;

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "reeve-provision-"));
  resources.defer(() => rmSync(folder, { recursive: true, force: true }));
  const server = resources.use(await startNatsServer({ storeDir: folder, log }, never));
  environment = { REEVE_NATS_URL: server.url, REEVE_POOLS: "default,large" };
});

afterAll(() => resources.disposeAsync());

import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { gatewayConfig } from "../src/config.ts";
import { startGateway } from "../src/serve.ts";
import { clientsOf } from "./support/clients.ts";

const never = new AbortController().signal;

test("a gateway without tokens writes one to a file that only its user can read, and not to its log", async () => {
  await using resources = new AsyncDisposableStack();
  const silent = createLogger("test", "silent");
  const storeDir = mkdtempSync(join(tmpdir(), "reeve-gateway-"));
  resources.defer(() => rmSync(storeDir, { recursive: true, force: true }));
  const server = resources.use(await startNatsServer({ storeDir, log: silent }, never));
  const nats = resources.use(await connectNats(server.url, { name: "test", log: silent }, never));
  const logged: string[] = [];
  const log = createLogger("test", "silent");
  log.warn = (...line: unknown[]) => void logged.push(JSON.stringify(line[0]));
  log.info = log.warn;
  const config = gatewayConfig.parse({ REEVE_LISTEN: "127.0.0.1:0" });
  const gateway = await startGateway(config, { nats, log }, never);
  const line = logged.find((each) => each.includes("tokenFile")) ?? "{}";
  const { tokenFile } = JSON.parse(line) as { readonly tokenFile: string };
  const token = readFileSync(tokenFile, "utf8").trim();
  expect(statSync(tokenFile).mode & 0o777).toBe(0o600);
  expect(logged.join("")).not.toContain(token);
  const { runs } = clientsOf(gateway.url, `Bearer ${token}`, "gRPC");
  expect((await runs.listRuns({})).runs).toEqual([]);
  await gateway[Symbol.asyncDispose]();
  expect(() => readFileSync(tokenFile)).toThrow("ENOENT");
});

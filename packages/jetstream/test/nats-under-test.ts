import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { startNatsServer } from "@reeve/platform/nats/nats-server";

const log = createLogger("test", "silent");
const never = new AbortController().signal;

/** A NATS server with a connection, which can be stopped and started again with the same files. */
export interface NatsUnderTest extends AsyncDisposable {
  readonly nats: Nats;
  /** Stops the server, runs `meanwhile`, and starts the server again on the same port. */
  restart(meanwhile?: () => Promise<void>): Promise<void>;
}

export async function startNatsUnderTest(): Promise<NatsUnderTest> {
  const storeDir = mkdtempSync(join(tmpdir(), "reeve-store-"));
  let server = await startNatsServer({ storeDir, log }, never);
  const nats = await connectNats(server.url, { name: "test", log }, never);
  return {
    nats,
    async restart(meanwhile) {
      const { port } = server;
      await server[Symbol.asyncDispose]();
      await meanwhile?.();
      server = await startNatsServer({ storeDir, port, log }, never);
    },
    async [Symbol.asyncDispose]() {
      await nats[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      rmSync(storeDir, { recursive: true, force: true });
    },
  };
}

import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { startBus } from "../src/embedded/start-bus.ts";

const log = createLogger("test", "silent");
const never = new AbortController().signal;

test("only the owner of the data folder can use the NATS server of an embedded deployment", async () => {
  const folder = mkdtempSync(join(tmpdir(), "reeve-bus-"));
  const secrets = ["nats.conf", "nats.env"].map((name) => join(folder, name));
  try {
    {
      await using bus = await startBus(
        folder,
        {
          natsPort: undefined,
          ackWaitMs: 1_000,
          runShards: 1,
          audit: { maxAgeMs: 86_400_000, maxEvents: 1_000 },
          log,
        },
        never,
      );
      const modes = secrets.map((path) => statSync(path).mode & 0o777);
      expect(modes).toEqual([0o600, 0o600]);
      const anyone = connect({ servers: bus.url, reconnect: false, timeout: 5_000 });
      await expect(anyone).rejects.toThrow(/authorization/i);
      const {
        REEVE_NATS_URL: servers = "",
        REEVE_NATS_USER: user = "",
        REEVE_NATS_PASSWORD: pass = "",
      } = parseEnv(readFileSync(join(folder, "nats.env"), "utf8"));
      const operator = await connect({ servers, user, pass });
      const { streams } = await jetstreamManager(operator);
      expect((await streams.info("RUNS")).config.name).toBe("RUNS");
      await operator.close();
    }
    expect(secrets.map((path) => existsSync(path))).toEqual([false, false]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

import process from "node:process";
import { createLogger } from "../../src/telemetry/logger.ts";
import { startNatsServer } from "../../src/nats/nats-server.ts";

// A process that starts a NATS server, prints its port and pid, and idles.
const [storeDir = ""] = process.argv.slice(2);
const log = createLogger("owner", "silent");
const { port, pid } = await startNatsServer({ storeDir, log }, new AbortController().signal);
process.stdout.write(`${JSON.stringify({ port, pid })}\n`);
setInterval(() => undefined, 60_000);

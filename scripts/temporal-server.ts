/**
 * Builds and starts a server of Temporal for development: `node scripts/temporal-server.ts FOLDER`. Its data is in the folder. Prints the
 * settings of a runtime, and ends with Ctrl-C.
 */
import { once } from "node:events";
import process from "node:process";
import { prepareTemporal } from "./temporal/prepare-temporal.ts";
import type { ServerPorts } from "./temporal/server-config.ts";
import { TemporalServer } from "./temporal/start-temporal.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error("invalid usage; run: node scripts/temporal-server.ts FOLDER");
  process.exit(2);
}
const ports: ServerPorts = {
  frontend: 7_233,
  frontendMembership: 6_933,
  frontendHttp: 7_243,
  matching: 7_235,
  matchingMembership: 6_935,
  history: 7_234,
  historyMembership: 6_934,
  worker: 7_239,
  workerMembership: 6_939,
};
console.error("preparing; the first time takes some minutes");
const prepared = await prepareTemporal();
await using server = await TemporalServer.start(prepared, { folder, ports });
console.log(`REEVE_EXECUTOR=temporal
REEVE_TEMPORAL_ADDRESS=${server.address}
REEVE_TEMPORAL_SDK=${prepared.sdk}`);
await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);

import { connectNats, credentialsOf } from "@reeve/platform/nats";
import { openProbes } from "@reeve/platform/probes";
import { runService } from "@reeve/platform/run-service";
import { gatewayConfig } from "./config.ts";
import { startGateway } from "./serve.ts";

await runService("gateway", gatewayConfig, async (config, { log, signal, resources }) => {
  const door = resources.use(await openProbes(config.REEVE_LISTEN, log, signal));
  const options = { name: "gateway", log, ...credentialsOf(config) };
  const nats = resources.use(await connectNats(config.REEVE_NATS_URL, options, signal));
  resources.use(await startGateway(config, { nats, log, door }, signal));
});

import { connectNats } from "@reeve/platform/nats";
import { runService } from "@reeve/platform/run-service";
import { gatewayConfig } from "./config.ts";
import { startGateway } from "./serve.ts";

await runService("gateway", gatewayConfig, async (config, { log, signal, resources }) => {
  const nats = resources.use(
    await connectNats(config.REEVE_NATS_URL, { name: "gateway", log }, signal),
  );
  resources.use(await startGateway(config, { nats, log }, signal));
});

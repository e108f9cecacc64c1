import { connectNats, credentialsOf } from "@reeve/platform/nats/connect-nats";
import { runService } from "@reeve/platform/process/run-service";
import type { GatewayConfig } from "./config.ts";
import { gatewayConfig } from "./config.ts";
import { startGateway } from "./serve.ts";

const service = {
  name: "gateway",
  settings: gatewayConfig,
  address: ({ REEVE_LISTEN: address }: GatewayConfig) => address,
};

await runService(service, async (config, { log, environment, signal, resources, listener }) => {
  const options = { name: "gateway", log, ...credentialsOf(config) };
  const nats = resources.use(await connectNats(config.REEVE_NATS_URL, options, signal));
  resources.use(await startGateway(config, { nats, log, environment, listener }, signal));
});

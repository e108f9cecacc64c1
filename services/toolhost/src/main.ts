import { connectNats, credentialsOf } from "@reeve/platform/nats/connect-nats";
import { serveProbes } from "@reeve/platform/rpc/probes";
import { runService } from "@reeve/platform/process/run-service";
import type { ToolhostConfig } from "./config.ts";
import { toolhostConfig } from "./config.ts";
import { startToolhost } from "./serve.ts";

const service = {
  name: "toolhost",
  settings: toolhostConfig,
  address: ({ REEVE_TOOLHOST_LISTEN: address }: ToolhostConfig) => address,
};

await runService(service, async (config, { log, environment, signal, resources, listener }) => {
  const options = { name: "toolhost", log, ...credentialsOf(config) };
  const nats = resources.use(await connectNats(config.REEVE_NATS_URL, options, signal));
  const toolhost = resources.use(await startToolhost(config, { nats, log, environment }, signal));
  await toolhost.offersAll;
  await serveProbes(listener, { nats, log }, signal);
});

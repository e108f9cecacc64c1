import { connectNats, credentialsOf } from "@reeve/platform/nats/connect-nats";
import { serveProbes } from "@reeve/platform/rpc/probes";
import { runService } from "@reeve/platform/process/run-service";
import type { RuntimeConfig } from "./config.ts";
import { runtimeConfig } from "./config.ts";
import { startRuntime } from "./serve.ts";

const service = {
  name: "runtime",
  settings: runtimeConfig,
  address: ({ REEVE_RUNTIME_LISTEN: address }: RuntimeConfig) => address,
};

await runService(service, async (config, { log, environment, signal, resources, listener }) => {
  const options = { name: "runtime", log, ...credentialsOf(config) };
  const nats = resources.use(await connectNats(config.REEVE_NATS_URL, options, signal));
  resources.use(await startRuntime(config, { nats, log, environment }, signal));
  await serveProbes(listener, { nats, log }, signal);
});

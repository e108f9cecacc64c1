import { connectNats, credentialsOf } from "@reeve/platform/nats";
import { openProbes, serveProbes } from "@reeve/platform/probes";
import { runService } from "@reeve/platform/run-service";
import { runtimeConfig } from "./config.ts";
import { startRuntime } from "./serve.ts";

await runService("runtime", runtimeConfig, async (config, { log, signal, resources }) => {
  const door = resources.use(await openProbes(config.REEVE_RUNTIME_LISTEN, log, signal));
  const options = { name: "runtime", log, ...credentialsOf(config) };
  const nats = resources.use(await connectNats(config.REEVE_NATS_URL, options, signal));
  resources.use(await startRuntime(config, { nats, log }, signal));
  await serveProbes(door, { nats, log }, signal);
});

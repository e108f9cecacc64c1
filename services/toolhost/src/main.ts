import { connectNats, credentialsOf } from "@reeve/platform/nats";
import { openProbes, serveProbes } from "@reeve/platform/probes";
import { runService } from "@reeve/platform/run-service";
import { toolhostConfig } from "./config.ts";
import { startToolhost } from "./serve.ts";

await runService("toolhost", toolhostConfig, async (config, { log, signal, resources }) => {
  const door = resources.use(await openProbes(config.REEVE_TOOLHOST_LISTEN, log, signal));
  const options = { name: "toolhost", log, ...credentialsOf(config) };
  const nats = resources.use(await connectNats(config.REEVE_NATS_URL, options, signal));
  resources.use(await startToolhost(config, { nats, log }, signal));
  await serveProbes(door, { nats, log }, signal);
});

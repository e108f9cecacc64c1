import { connectNats } from "@reeve/platform/nats";
import { runService } from "@reeve/platform/run-service";
import { runtimeConfig } from "./config.ts";
import { startRuntime } from "./serve.ts";

await runService("runtime", runtimeConfig, async (config, { log, signal, resources }) => {
  const nats = resources.use(
    await connectNats(config.REEVE_NATS_URL, { name: "runtime", log }, signal),
  );
  resources.use(await startRuntime(config, { nats, log }, signal));
});

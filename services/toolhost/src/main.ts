import { connectNats } from "@reeve/platform/nats";
import { runService } from "@reeve/platform/run-service";
import { toolhostConfig } from "./config.ts";
import { startToolhost } from "./serve.ts";

await runService(
  "toolhost",
  toolhostConfig,
  async (config, { log, signal, resources, environment }) => {
    const nats = resources.use(
      await connectNats(config.REEVE_NATS_URL, { name: "toolhost", log }, signal),
    );
    resources.use(await startToolhost(config, { nats, log, environment }, signal));
  },
);

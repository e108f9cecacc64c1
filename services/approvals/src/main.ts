import { connectNats } from "@reeve/platform/nats";
import { runService } from "@reeve/platform/run-service";
import { approvalsConfig } from "./config.ts";
import { startApprovals } from "./serve.ts";

await runService("approvals", approvalsConfig, async (config, { log, signal, resources }) => {
  const nats = resources.use(
    await connectNats(config.REEVE_NATS_URL, { name: "approvals", log }, signal),
  );
  resources.use(await startApprovals(config, { nats, log }, signal));
});

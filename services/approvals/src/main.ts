import { connectNats, credentialsOf } from "@reeve/platform/nats";
import { openProbes } from "@reeve/platform/probes";
import { runService } from "@reeve/platform/run-service";
import { approvalsConfig } from "./config.ts";
import { startApprovals } from "./serve.ts";

await runService("approvals", approvalsConfig, async (config, { log, signal, resources }) => {
  const door = resources.use(await openProbes(config.REEVE_APPROVALS_LISTEN, log, signal));
  const options = { name: "approvals", log, ...credentialsOf(config) };
  const nats = resources.use(await connectNats(config.REEVE_NATS_URL, options, signal));
  resources.use(await startApprovals(config, { nats, log, door }, signal));
});

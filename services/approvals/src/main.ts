import { connectNats, credentialsOf } from "@reeve/platform/nats/connect-nats";
import { runService } from "@reeve/platform/process/run-service";
import type { ApprovalsConfig } from "./config.ts";
import { approvalsConfig } from "./config.ts";
import { startApprovals } from "./serve.ts";

const service = {
  name: "approvals",
  settings: approvalsConfig,
  address: ({ REEVE_APPROVALS_LISTEN: address }: ApprovalsConfig) => address,
};

await runService(service, async (config, { log, environment, signal, resources, listener }) => {
  const options = { name: "approvals", log, ...credentialsOf(config) };
  const nats = resources.use(await connectNats(config.REEVE_NATS_URL, options, signal));
  resources.use(await startApprovals(config, { nats, log, listener, environment }, signal));
});

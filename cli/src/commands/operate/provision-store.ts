import { accountOf } from "@reeve/jetstream/streams/account-of";
import type { Account } from "@reeve/jetstream/streams/account-of";
import { setAuditLimits } from "@reeve/jetstream/audit/set-limits";
import { setReplicas, provisionStreams } from "@reeve/jetstream/streams/provision-streams";
import { readConfig } from "@reeve/platform/config";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { connectNats, credentialsOf } from "@reeve/platform/nats/connect-nats";
import { provisionBuckets } from "@reeve/jetstream/streams/provision-buckets";
import { warnOfServerLimit } from "@reeve/jetstream/streams/warn-of-server-limit";
import type { Context } from "../../context.ts";
import { auditLimitsOf, provisionConfig } from "../provision-config.ts";

/** Creates what the services store in NATS, and prints the names of the streams. */
export async function provisionStore({ environment, signal, terminal }: Context): Promise<void> {
  const config = readConfig(provisionConfig, environment);
  const log = createLogger("provision", config.REEVE_LOG_LEVEL);
  const options = { name: "provision", log, ...credentialsOf(config) };
  await using nats = await connectNats(config.REEVE_NATS_URL, options, signal);
  const replicas = config.REEVE_STREAM_REPLICAS;
  const runShards = config.REEVE_RUN_SHARDS;
  const queues = {
    pools: config.REEVE_POOLS,
    ackWaitMs: config.REEVE_ACK_WAIT_MS,
    replicas,
    runShards,
  };
  const before = await accountOf(nats.connection);
  const streams = [
    ...(await provisionStreams(nats, queues, signal)),
    ...(await provisionBuckets(nats, signal)),
  ].toSorted();
  await setAuditLimits(nats, auditLimitsOf(config));
  await setReplicas(nats, streams, replicas, signal);
  await warnOfServerLimit(nats.connection, replicas, log);
  terminal.out(`${streams.join("\n")}\n`);
  terminal.note(`pools: ${config.REEVE_POOLS.join(", ")}\n`);
  if (before.streams === 0) terminal.note(`${newStore(before)}\n`);
}

/** Streams of another account are not visible, so an update that changes the account looks like a new deployment. */
function newStore({ name }: Account): string {
  const account = name === undefined ? "the account of NATS" : `the account ${name} of NATS`;
  return `${account} had no streams: the store is new. If this deployment had a store before, it is in another account, see docs/deploy.md, "An account is a store of its own"`;
}

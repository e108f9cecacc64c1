import { Command } from "commander";
import { setReplicas, provisionStreams } from "@reeve/jetstream/streams/provision-streams";
import { readConfig } from "@reeve/platform/config";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { connectNats, credentialsOf } from "@reeve/platform/nats/connect-nats";
import { provisionBuckets } from "@reeve/jetstream/streams/provision-buckets";
import type { Cli } from "../cli.ts";
import { provisionConfig } from "../provision-config.ts";

/** Makes what the services keep in NATS, before any of them starts. */
export function provisionCommand(cli: Cli): Command {
  const command = new Command("provision").description(
    "make the streams, buckets and consumers in NATS (REEVE_NATS_URL, REEVE_POOLS, REEVE_STREAM_REPLICAS); can be repeated",
  );
  return command.action(async () => {
    const { environment, signal, terminal } = cli;
    const config = readConfig(provisionConfig, environment);
    const log = createLogger("provision", config.REEVE_LOG_LEVEL);
    const options = { name: "provision", log, ...credentialsOf(config) };
    await using nats = await connectNats(config.REEVE_NATS_URL, options, signal);
    const queues = { pools: config.REEVE_POOLS, ackWaitMs: config.REEVE_ACK_WAIT_MS };
    const streams = [
      ...(await provisionStreams(nats, queues, signal)),
      ...(await provisionBuckets(nats, signal)),
    ].toSorted();
    await setReplicas(nats, streams, config.REEVE_STREAM_REPLICAS, signal);
    terminal.out(`${streams.join("\n")}\n`);
    terminal.note(`pools: ${config.REEVE_POOLS.join(", ")}\n`);
  });
}

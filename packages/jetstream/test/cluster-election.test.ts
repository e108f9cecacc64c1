import { connectNats } from "@reeve/platform/nats/connect-nats";
import { reportStoreSteps } from "@reeve/platform/nats/store-steps";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { NatsCluster } from "../../../test/support/nats-cluster.ts";
import { whyNoReplicas } from "../../../test/support/nats-program.ts";
import { provisionStreams } from "../src/streams/provision-streams.ts";

const never = new AbortController().signal;
const reason = whyNoReplicas();

test.skipIf(reason !== "")(
  `the streams of a cluster without a leader are created once it has elected one${reason}`,
  async () => {
    await using cluster = await NatsCluster.start();
    const log = createLogger("test", "silent");
    await using nats = await connectNats(cluster.url, { name: "test", log }, never);
    const others = ["nats-2", "nats-3"];
    for (const name of others) await cluster.kill(name);

    // Longer than a server that starts alone needs.
    const { promise: waitsLong, resolve } = Promise.withResolvers<void>();
    let warnings = 0;
    reportStoreSteps(nats.connection, { warn: () => void (++warnings === 2 && resolve()) });
    const provisioning = provisionStreams(nats, { pools: ["default"], ackWaitMs: 5_000 }, never);
    await Promise.race([waitsLong, provisioning]);
    for (const name of others) await cluster.restart(name);
    expect(await provisioning).toContain("RUNS");
  },
);

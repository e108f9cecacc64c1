import { provisionStreams } from "@reeve/jetstream/streams/provision-streams";
import { expect, test } from "vitest";
import { NatsCluster } from "../support/nats-cluster.ts";
import { whyNoReplicas } from "../support/nats-program.ts";
import { StoreClock } from "./support/store-clock.ts";

const reason = whyNoReplicas();

test.skipIf(reason !== "")(
  `the clock of the store stands still while one of three servers runs${reason}`,
  async ({ signal }) => {
    await using servers = await NatsCluster.start();
    const settings = { pools: ["default"], ackWaitMs: 15_000, replicas: 3 };
    await provisionStreams(await servers.connect(), settings, signal);
    await using clock = new StoreClock(await servers.connectAll());
    const tick = async (times: number) => {
      for (let seen = 0; seen < times; seen++) await clock.measured();
      return clock.now();
    };
    await expect.poll(clock.now).toBeGreaterThan(0);

    await Promise.all(["nats-2", "nats-3"].map((name) => servers.kill(name)));
    // A measurement that was in progress may have counted.
    const stopped = await tick(2);
    expect(await tick(2)).toBe(stopped);

    await Promise.all(["nats-2", "nats-3"].map((name) => servers.restart(name)));
    await expect.poll(clock.now).toBeGreaterThan(stopped);
  },
);

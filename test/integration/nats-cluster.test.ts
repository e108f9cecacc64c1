import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Containers } from "./support/containers.ts";
import { onEngine } from "./support/engine.ts";
import { underLoad } from "./support/load.ts";

onEngine("three NATS servers that keep each stream three times", () => {
  let containers: Containers;

  beforeAll(async () => {
    const settings = { REEVE_ACK_WAIT_MS: "5000" };
    containers = await Containers.start({ natsServers: 3, settings });
    await containers.agent("work", {
      permissionClasses: ["execute"],
      deepAgent: { allowedImports: fromJson(ListValueSchema, ["time"]) },
    });
  }, 300_000);

  afterAll(async () => {
    await containers[Symbol.asyncDispose]();
  });

  test.each(["RUNS", "DISPATCH"])(
    "the leader of %s is killed and comes back under load, and no run is lost, no event comes twice",
    async (stream) => {
      await containers.nats.whole(stream);
      await underLoad(containers, "work", async ({ next }) => {
        await next();
        const leader = await containers.nats.leaderOf(stream);
        await containers.nats.kill(leader);
        expect(await containers.nats.leaderOf(stream)).not.toBe(leader);
        await next();
        await containers.nats.startAgain(leader);
        await containers.nats.whole(stream);
        await next();
      });
    },
  );
});

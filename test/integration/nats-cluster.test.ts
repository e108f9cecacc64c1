import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, test } from "vitest";
import { Containers } from "./support/containers.ts";
import { because, whySkipped } from "./support/engine.ts";
import { expectUnnoticed } from "./support/load.ts";

const reason = whySkipped();

describe.skipIf(reason !== undefined)(
  `three NATS servers with three replicas of each stream${because(reason)}`,
  () => {
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
      "the leader of %s is killed and restarted under load without lost runs or duplicate events",
      async (stream) => {
        await containers.nats.whole(stream);
        await expectUnnoticed(containers, "work", async ({ next }) => {
          await next();
          const leader = await containers.nats.leaderOf(stream);
          await containers.nats.kill(leader);
          await containers.nats.leaderOf(stream, leader);
          await next();
          await containers.nats.startAgain(leader);
          await containers.nats.whole(stream);
          await next();
        });
      },
    );
  },
);

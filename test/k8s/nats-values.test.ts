import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { expect, test } from "vitest";
import { repository } from "./support/render.ts";

test("the NATS servers of production acknowledge an append when it is on their disks", () => {
  const text = readFileSync(join(repository, "deploy/k8s/values/nats.yaml"), "utf8");
  expect(parse(text)).toMatchObject({
    config: {
      cluster: { enabled: true, replicas: 3 },
      jetstream: { enabled: true, merge: { sync_interval: "always" } },
    },
  });
});

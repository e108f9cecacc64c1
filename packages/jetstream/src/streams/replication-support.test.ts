import { expect, test } from "vitest";
import { connectedTo, introducing } from "../../test/support/servers/introducing-server.ts";
import { assertClusterKeepsReplicas, keepsReplicas } from "./replication-support.ts";

test.each(["2.9.25", "2.9.26", "2.10.7", "2.10.27", "2.11.0", "2.12.15", "2.14.0-RC.1", "3.0.0"])(
  "version %s keeps replicas",
  (version) => expect(keepsReplicas(version)).toBe(true),
);

test.each(["2.8.4", "2.9.10", "2.9.24", "2.10.0", "2.10.6", "1.4.1", ""])(
  "version %s does not keep replicas",
  (version) => expect(keepsReplicas(version)).toBe(false),
);

test("a cluster is refused for each server to which a client may move", async () => {
  await using current = await introducing("2.12.15");
  await using old = await introducing("2.9.10");
  await assertClusterKeepsReplicas(connectedTo("2.12.15", current.address));
  await expect(
    assertClusterKeepsReplicas(connectedTo("2.12.15", current.address, old.address)),
  ).rejects.toMatchObject({
    kind: "precondition",
    message: expect.stringContaining(`${old.address} has version 2.9.10`) as string,
  });
  await expect(
    assertClusterKeepsReplicas(connectedTo("2.10.3", current.address)),
  ).rejects.toMatchObject({
    kind: "precondition",
    message: expect.stringMatching(
      /10\.0\.0\.1:4222 has version 2\.10\.3.*install nats-server/,
    ) as string,
  });
});

test("a server that does not answer is ignored", async () => {
  const gone = await introducing("2.9.10");
  await gone[Symbol.asyncDispose]();
  await expect(
    assertClusterKeepsReplicas(connectedTo("2.12.15", gone.address)),
  ).resolves.toBeUndefined();
});

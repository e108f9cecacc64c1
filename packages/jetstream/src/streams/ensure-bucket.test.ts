import { JetStreamApiError } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { Failure } from "@reeve/platform/failure";
import { expect, test } from "vitest";
import { callStore } from "./call-store.ts";
import { ensureBucket } from "./ensure-stream.ts";

const connection = { isClosed: () => false } as NatsConnection;

/** Creates a bucket at the second attempt; the first one fails with a code of JetStream. */
function createdAfter(code: number, description: string): () => Promise<string> {
  let attempts = 0;
  return () =>
    callStore(() =>
      attempts++ === 0
        ? Promise.reject(new JetStreamApiError({ code: 400, err_code: code, description }))
        : Promise.resolve("created"),
    );
}

test("a bucket is created once all servers have joined the cluster", async () => {
  const create = createdAfter(10005, "no suitable peers for placement, peer offline");
  expect(await ensureBucket(connection, "KV_runs", create)).toBe("created");
});

test("a bucket that the server refuses is an error at once", async () => {
  const create = createdAfter(10052, "invalid configuration");
  await expect(ensureBucket(connection, "KV_runs", create)).rejects.toThrow(Failure);
  // The second attempt, which would succeed, was not made before.
  expect(await create()).toBe("created");
});

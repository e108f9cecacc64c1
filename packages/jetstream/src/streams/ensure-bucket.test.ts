import { JetStreamApiError } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { errors } from "@nats-io/transport-node";
import { Failure } from "@reeve/platform/failure";
import { expect, test } from "vitest";
import { callStore } from "./call-store.ts";
import { ensureBucket } from "./ensure-stream.ts";

const connection = { isClosed: () => false } as NatsConnection;

/** Creates a bucket at the second attempt; the first one fails. */
function createdAfter(failure: Error): () => Promise<string> {
  let attempts = 0;
  return () =>
    callStore(() => (attempts++ === 0 ? Promise.reject(failure) : Promise.resolve("created")));
}

function refusal(code: number, description: string): Error {
  return new JetStreamApiError({ code: 400, err_code: code, description });
}

test("a bucket is created once all servers have joined the cluster", async () => {
  const create = createdAfter(refusal(10005, "no suitable peers for placement, peer offline"));
  expect(await ensureBucket(connection, "KV_runs", create)).toBe("created");
});

test("a bucket is created once the cluster has elected a leader and answers", async () => {
  const create = createdAfter(new errors.TimeoutError());
  expect(await ensureBucket(connection, "KV_runs", create)).toBe("created");
});

test("a bucket that the server refuses is an error at once", async () => {
  const create = createdAfter(refusal(10052, "invalid configuration"));
  await expect(ensureBucket(connection, "KV_runs", create)).rejects.toThrow(Failure);
  // The second attempt, which would succeed, was not made before.
  expect(await create()).toBe("created");
});

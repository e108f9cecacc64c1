import { JetStreamApiError } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { errors } from "@nats-io/transport-node";
import { expect, test } from "vitest";
import { untilConsumerIsReady } from "./ensure-consumer.ts";

const connection = { isClosed: () => false } as NatsConnection;

/** Throws each of `failures` once, and then returns "ready". */
function failingWith(...failures: readonly Error[]): () => Promise<string> {
  const left = [...failures];
  return () => {
    const failure = left.shift();
    return failure === undefined ? Promise.resolve("ready") : Promise.reject(failure);
  };
}

function apiError(code: number, description: string): JetStreamApiError {
  return new JetStreamApiError({ code: 503, err_code: code, description });
}

test("a consumer is opened once the cluster has a leader again, and its servers run", async () => {
  const ensure = failingWith(
    apiError(10008, "JetStream system temporarily unavailable"),
    new errors.TimeoutError(),
    apiError(10119, "consumer is offline"),
    apiError(10118, "stream is offline"),
  );
  expect(await untilConsumerIsReady(connection, "workers", ensure)).toBe("ready");
});

test("a consumer that the server refuses is an error at once", async () => {
  for (const refusal of [
    apiError(10012, "consumer name already in use"),
    apiError(10195, "consumer is offline: unsupported"),
  ]) {
    const ensured = untilConsumerIsReady(connection, "workers", failingWith(refusal));
    await expect(ensured).rejects.toBe(refusal);
  }
});

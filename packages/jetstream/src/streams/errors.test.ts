import { JetStreamApiError } from "@nats-io/jetstream";
import { expect, test } from "vitest";
import { storeFailure } from "./errors.ts";

test("a refusal of JetStream reads as what it refused, thrown by the client or sent in a reply", () => {
  const refusal = { code: 400, err_code: 10052, description: "invalid stream configuration" };
  for (const error of [refusal, new JetStreamApiError(refusal)]) {
    expect(storeFailure(error)).toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining(
        "the store rejected the request (invalid stream configuration)",
      ) as string,
    });
  }
});

test("an error that is no refusal reads as a store that does not answer", () => {
  expect(storeFailure(new Error("timeout")).message).not.toContain("rejected");
});

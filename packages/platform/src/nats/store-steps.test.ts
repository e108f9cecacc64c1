import type { NatsConnection } from "@nats-io/transport-node";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { reportStoreSteps, storeStep } from "./store-steps.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
});
afterEach(() => {
  vi.useRealTimers();
});

test("a step is logged by name while it takes long, and not after its end", async () => {
  const logged: string[] = [];
  const connection = {} as NatsConnection;
  reportStoreSteps(connection, {
    warn: (fields: unknown) => logged.push((fields as { readonly step: string }).step),
  });
  const { promise, resolve } = Promise.withResolvers<string>();
  const step = storeStep(connection, "bucket tools", () => promise);
  vi.advanceTimersByTime(4_000);
  expect(logged).toEqual([]);
  vi.advanceTimersByTime(7_000);
  expect(logged).toEqual(["bucket tools", "bucket tools"]);
  resolve("open");
  expect(await step).toBe("open");
  vi.advanceTimersByTime(60_000);
  expect(logged).toHaveLength(2);
});

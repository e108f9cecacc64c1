import { createClient } from "@connectrpc/connect";
import { RunService } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../gen/grpc/health/v1/health_pb.ts";
import { failureFrom } from "../src/rpc/connect-failure.ts";
import { served } from "./support/served.ts";

const { typeName } = RunService;

test("a server reports its health, as a whole and by service", async () => {
  let isReady = true;
  await using bench = await served({}, { ready: () => isReady });
  const health = createClient(Health, bench.transport);
  expect((await health.check({})).status).toBe(Status.SERVING);
  expect((await health.check({ service: typeName })).status).toBe(Status.SERVING);
  isReady = false;
  expect((await health.check({ service: typeName })).status).toBe(Status.NOT_SERVING);
  expect((await health.check({ service: "readiness" })).status).toBe(Status.NOT_SERVING);
  expect((await health.check({ service: "liveness" })).status).toBe(Status.SERVING);
  expect((await health.list({})).statuses).toMatchObject({
    liveness: { status: Status.SERVING },
    "": { status: Status.NOT_SERVING },
    [typeName]: { status: Status.NOT_SERVING },
  });
});

test("an unknown service is not found", async () => {
  await using bench = await served();
  const health = createClient(Health, bench.transport);
  const refused = await health.check({ service: "nothing" }).catch(failureFrom);
  expect(refused).toMatchObject({ kind: "not_found" });
  for await (const { status } of health.watch({ service: "nothing" })) {
    expect(status).toBe(Status.SERVICE_UNKNOWN);
    break;
  }
});

test("a watch receives each change", async () => {
  let isReady = false;
  await using bench = await served({}, { ready: () => isReady });
  const health = createClient(Health, bench.transport);
  const heard: Status[] = [];
  for await (const { status } of health.watch({})) {
    heard.push(status);
    isReady = true;
    if (heard.length === 2) break;
  }
  expect(heard).toEqual([Status.NOT_SERVING, Status.SERVING]);
});

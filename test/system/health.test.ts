import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../../packages/platform/gen/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../packages/platform/gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "../../packages/platform/gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { publicServices } from "../k8s/support/public-services.ts";
import type { ServiceName } from "./support/deployment.ts";
import { Deployment } from "./support/deployment.ts";
import { eventOf, firstCall, started } from "./support/watching.ts";

const names = ["gateway", "runtime", "toolhost", "approvals"] as const;

/** The gRPC services of each process; runtime and toolhost serve only probes. */
const served: Readonly<Record<ServiceName, readonly string[]>> = {
  gateway: publicServices,
  approvals: [
    "reeve.approval.v1.ApprovalService",
    "reeve.notify.v1.NotificationService",
    "reeve.passkey.v1.PasskeyService",
  ],
  runtime: ["grpc.health.v1.Health"],
  toolhost: ["grpc.health.v1.Health"],
};

let deployment: Deployment;

beforeAll(async () => {
  deployment = await Deployment.start({ REEVE_DRAIN_MS: "600000" });
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
});

async function transportTo(name: ServiceName) {
  return createGrpcTransport({ baseUrl: await deployment.probesOf(name) });
}

async function healthOf(name: ServiceName) {
  return createClient(Health, await transportTo(name));
}

async function status(name: ServiceName, path: string): Promise<number> {
  const response = await fetch(`${await deployment.probesOf(name)}${path}`);
  await response.body?.cancel();
  return response.status;
}

/** Resolves when a service reports this readiness. */
async function untilReadinessIs(name: ServiceName, wanted: Status): Promise<void> {
  const health = await healthOf(name);
  for await (const { status } of health.watch({ service: "readiness" })) {
    if (status === wanted) return;
  }
}

async function expectAlive(name: ServiceName): Promise<void> {
  expect(await status(name, "/livez")).toBe(200);
  const health = await healthOf(name);
  expect(await health.check({ service: "liveness" })).toMatchObject({ status: Status.SERVING });
}

async function expectNotReady(name: ServiceName): Promise<void> {
  expect(await status(name, "/readyz")).toBe(503);
  const health = await healthOf(name);
  expect(await health.check({})).toMatchObject({ status: Status.NOT_SERVING });
}

async function* only<Asked>(question: Asked) {
  yield await Promise.resolve(question);
}

describe.each(names)("%s", (name) => {
  // Requirement: OPS-1
  test("reports liveness, readiness, and metrics", async () => {
    await expectAlive(name);
    await untilReadinessIs(name, Status.SERVING);
    expect(await status(name, "/readyz")).toBe(200);
    const metrics = await fetch(`${await deployment.probesOf(name)}/metrics`);
    expect(metrics.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(await metrics.text()).toMatch(/^process_cpu_seconds_total \d/m);
  });

  // Requirement: OPS-1
  test("lists its gRPC services through both versions of reflection", async () => {
    const asked = { host: "", messageRequest: { case: "listServices", value: "" } } as const;
    const transport = await transportTo(name);
    const told: (readonly string[])[] = [];
    for (const reflection of [
      createClient(ServerReflection, transport),
      createClient(ServerReflectionAlpha, transport),
    ]) {
      for await (const { messageResponse } of reflection.serverReflectionInfo(only(asked))) {
        if (messageResponse.case !== "listServicesResponse") continue;
        told.push(messageResponse.value.service.map((service) => service.name).toSorted());
      }
    }
    expect(told).toEqual([served[name], served[name]]);
  });
});

// Requirement: OPS-1
test("a service without its store is alive but not ready, until the store returns", async () => {
  const off = names.map((name) => untilReadinessIs(name, Status.NOT_SERVING));
  await deployment.killNats();
  await Promise.all(off);
  for (const name of names) await expectAlive(name);
  for (const name of names) await expectNotReady(name);
  await deployment.startNats();
  await Promise.all(names.map((name) => untilReadinessIs(name, Status.SERVING)));
});

test("a service that starts before its store is alive, and becomes ready when the store starts", async () => {
  for (const name of names) await deployment.kill(name);
  await deployment.killNats();
  const starting = names.map((name) => deployment.start(name));
  for (const name of names) await expectAlive(name);
  for (const name of names) await expectNotReady(name);
  // A client retries while no server listens.
  const refused = await deployment.reeve.runs.listRuns({}).catch(failureFrom);
  expect(refused).toMatchObject({ kind: "unavailable" });
  await deployment.startNats();
  await Promise.all(starting);
  for (const name of names) await untilReadinessIs(name, Status.SERVING);
});

test("a draining service is alive but not ready", async () => {
  await deployment.agent("ponder");
  const deepAgent = { allowedImports: fromJson(ListValueSchema, ["time"]) };
  await deployment.agent("sleep", { permissionClasses: ["execute"], deepAgent });
  const { run: pondering } = await deployment.reeve.runs.startRun({
    agentId: "ponder",
    input: "ponder",
  });
  await eventOf(deployment, pondering?.runId ?? "", "modelCallStarted");
  const { run: sleeping } = await deployment.reeve.runs.startRun({ agentId: "sleep", input: "20" });
  const runId = sleeping?.runId ?? "";
  await started(deployment, runId, await firstCall(deployment, runId));
  for (const name of ["runtime", "toolhost"] as const) {
    const health = await healthOf(name);
    const watching = health.watch({})[Symbol.asyncIterator]();
    await watching.next();
    deployment.signal(name, "SIGTERM");
    // A draining server ends its streams.
    await expect(watching.next()).rejects.toThrow("the server is shutting down");
    await expectAlive(name);
    await expectNotReady(name);
  }
});

test("no service has tried what its credentials of NATS forbid", () => {
  expect(deployment.logged.filter((line) => line.includes("Permissions Violation"))).toEqual([]);
});

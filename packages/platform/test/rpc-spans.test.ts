import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { ErrorReason } from "@reeve/contracts/error";
import { RunService } from "@reeve/contracts/run";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { Health } from "../gen/grpc/health/v1/health_pb.ts";
import { Failure } from "../src/failure.ts";
import { fixedCredentials } from "../src/rpc/credentials/bearer-tokens.ts";
import { authenticate } from "../src/rpc/principal.ts";
import { allRoles } from "../src/rpc/roles.ts";
import { traceClientRequests } from "../src/rpc/rpc-spans.ts";
import { traceparentOf } from "../src/telemetry/spans.ts";
import { served } from "./support/served.ts";

const exporter = new InMemorySpanExporter();
const startRun = "reeve.run.v1.RunService/StartRun";
const watchRun = "reeve.run.v1.RunService/WatchRun";

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  const spanProcessors = [new SimpleSpanProcessor({ exporter })];
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors }));
});

afterEach(() => exporter.reset());

/** Returns the spans of a method as soon as there are `count` of them. */
async function spansOf(name: string, count: number): Promise<readonly ReadableSpan[]> {
  const found = () => exporter.getFinishedSpans().filter((span) => span.name === name);
  await vi.waitUntil(() => found().length === count, { timeout: 10_000, interval: 10 });
  return found();
}

test("client and server spans of a request share a trace, over every protocol", async () => {
  const inside: string[] = [];
  const startRunHere = () => {
    inside.push(traceparentOf());
    return {};
  };
  await using server = await served({ startRun: startRunHere });
  const given = {
    baseUrl: server.server.url,
    httpVersion: "2" as const,
    interceptors: [traceClientRequests()],
  };
  for (const [transport, system] of [
    [createGrpcTransport(given), "grpc"],
    [createConnectTransport(given), "connectrpc"],
  ] as const) {
    exporter.reset();
    await createClient(RunService, transport).startRun({ agentId: "a", input: "hello" });
    const [made, served] = (await spansOf(startRun, 2)).toSorted((a, b) => b.kind - a.kind);
    expect(served?.parentSpanContext?.spanId).toBe(made?.spanContext().spanId);
    expect(inside.at(-1)).toContain(served?.spanContext().spanId);
    for (const span of [made, served]) {
      expect(span?.attributes).toMatchObject({ "rpc.system.name": system, "rpc.method": startRun });
    }
  }
});

test("a refusal is recorded by its code, and is not an error of the server", async () => {
  await using server = await served({
    startRun: () => Promise.reject(new Failure("not_found", ErrorReason.AGENT_NOT_FOUND, "secret")),
  });
  const client = createClient(RunService, server.transport);
  await expect(client.startRun({ agentId: "a", input: "hello" })).rejects.toThrow("secret");
  const [span] = await spansOf(startRun, 1);
  expect(span?.attributes["rpc.response.status_code"]).toBe("NOT_FOUND");
  expect(span?.status).toEqual({ code: 0 });
  expect(JSON.stringify([span?.attributes, span?.events])).not.toContain("secret");
});

test("an internal error is recorded as an error, without its message", async () => {
  await using server = await served({ startRun: () => Promise.reject(new Error("secret")) });
  const client = createClient(RunService, server.transport);
  await expect(client.startRun({ agentId: "a", input: "hello" })).rejects.toThrow("internal");
  const [span] = await spansOf(startRun, 1);
  expect(span?.attributes["error.type"]).toBe("INTERNAL");
  expect(span?.status).toEqual({ code: 2 });
  expect(JSON.stringify([span?.attributes, span?.events])).not.toContain("secret");
});

test("the span of a stream ends when the client leaves", async () => {
  await using server = await served({
    async *watchRun(_, { signal }) {
      yield { throughSequence: 1 };
      await new Promise((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason)),
      );
    },
  });
  const leaving = new AbortController();
  const watched = createClient(RunService, server.transport).watchRun(
    { runId: "run_1" },
    { signal: leaving.signal },
  );
  const first = await watched[Symbol.asyncIterator]().next();
  expect(first.value).toMatchObject({ throughSequence: 1 });
  leaving.abort();
  const [span] = await spansOf(watchRun, 1);
  expect(span?.status).toEqual({ code: 0 });
});

test("an unauthenticated request has no span, and an authenticated one has", async () => {
  const alice = { tenant: "acme", subject: "alice", roles: allRoles };
  const byToken = authenticate(fixedCredentials(new Map([["alice-token", alice]])));
  await using server = await served({ startRun: () => ({}) }, { authenticate: byToken });
  const runs = createClient(RunService, server.transport);
  const request = { agentId: "a", input: "hello" };
  const headers = { traceparent: `00-${"1".repeat(32)}-${"2".repeat(16)}-01` };
  await expect(runs.startRun(request, { headers })).rejects.toThrow("no bearer token");
  await runs.startRun(request, { headers: { authorization: "Bearer alice-token" } });
  const [span] = await spansOf(startRun, 1);
  expect(span?.attributes["rpc.response.status_code"]).toBe("OK");
  expect(exporter.getFinishedSpans()).toHaveLength(1);
});

test("health has no spans", async () => {
  await using server = await served();
  await createClient(Health, server.transport).check({});
  expect(exporter.getFinishedSpans()).toEqual([]);
});

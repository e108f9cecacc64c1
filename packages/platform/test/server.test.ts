import { once } from "node:events";
import { connect } from "node:net";
import type { JsonObject } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { ApprovalService } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { RunService } from "@reeve/contracts/run";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { failureFrom } from "../src/rpc/connect-failure.ts";
import { openListener } from "../src/rpc/listener.ts";
import { Failure } from "../src/failure.ts";
import { serve } from "../src/rpc/server.ts";
import { served } from "./support/served.ts";

/** Returns the Failure of a call. */
async function refusalOf(call: Promise<unknown> | AsyncIterable<unknown>): Promise<Failure> {
  try {
    if (Symbol.asyncIterator in call) for await (const _ of call);
    else await call;
  } catch (error) {
    return failureFrom(error);
  }
  throw new Error("the call succeeded");
}

function nested(levels: number): JsonObject {
  return levels === 0 ? {} : { a: nested(levels - 1) };
}

describe("an error of a handler", () => {
  test("that is a Failure becomes a status with its reason, violations, and ids", async () => {
    const failure = new Failure("conflict", ErrorReason.REVISION_CONFLICT, "agent a was changed", {
      violations: [{ field: "spec.a", description: "is wrong", reason: "WRONG" }],
      metadata: { agent_id: "a" },
    });
    await using bench = await served({ getRun: () => Promise.reject(failure) });
    const client = createClient(RunService, bench.transport);
    expect(await refusalOf(client.getRun({ runId: "r" }))).toMatchObject({
      kind: "conflict",
      reason: ErrorReason.REVISION_CONFLICT,
      message: "agent a was changed",
      violations: [{ field: "spec.a", description: "is wrong", reason: "WRONG" }],
      metadata: { agent_id: "a" },
    });
    expect(bench.logged).toEqual([]);
  });

  test("that is not a Failure is hidden from the client, and logged once", async () => {
    const fault = new Error("password is 1234");
    await using bench = await served({
      getRun: () => Promise.reject(fault),
      async *watchRun() {
        yield { throughSequence: 1 };
        throw await Promise.resolve(fault);
      },
    });
    const client = createClient(RunService, bench.transport);
    const refusal = {
      kind: "internal",
      reason: ErrorReason.INTERNAL,
      message: expect.stringMatching(/^reeve.run.v1.RunService\/\w+ caused an internal error/),
    };
    expect(await refusalOf(client.getRun({ runId: "r" }))).toMatchObject(refusal);
    expect(await refusalOf(client.watchRun({ runId: "r" }))).toMatchObject(refusal);
    expect(bench.logged).toHaveLength(2);
    expect(bench.logged[0]).toContain("password is 1234");
  });

  test("in the middle of a stream becomes a status too", async () => {
    await using bench = await served({
      async *watchRun() {
        yield { throughSequence: 1 };
        throw await Promise.resolve(
          new Failure("unavailable", ErrorReason.UNAVAILABLE, "the store does not answer"),
        );
      },
    });
    const client = createClient(RunService, bench.transport);
    const seen: number[] = [];
    const watching = async () => {
      for await (const { throughSequence } of client.watchRun({ runId: "r" })) {
        seen.push(throughSequence);
      }
    };
    expect(await refusalOf(watching())).toMatchObject({
      kind: "unavailable",
      reason: ErrorReason.UNAVAILABLE,
    });
    expect(seen).toEqual([1]);
  });
});

test("an invalid request does not reach the handler, and is refused with all violations", async () => {
  let calls = 0;
  await using bench = await served({
    startRun: () => {
      calls++;
      return {};
    },
  });
  const client = createClient(RunService, bench.transport);
  const labels = { "": "x", long: "y".repeat(1_025) };
  const refusal = await refusalOf(client.startRun({ agentId: "No Id", labels }));
  expect(refusal).toMatchObject({ kind: "invalid", reason: ErrorReason.INVALID_REQUEST });
  expect(refusal.violations.map(({ field }) => field)).toEqual([
    "agent_id",
    "input",
    'labels[""]',
    'labels["long"]',
  ]);
  expect(calls).toBe(0);
});

test("a request that is nested too deeply is refused with that reason, over every protocol", async () => {
  await using server = await serve(
    (router) => router.service(ApprovalService, { decideApproval: () => ({}) }),
    { host: "127.0.0.1", port: 0, log: pino({ level: "silent" }), services: [ApprovalService] },
    new AbortController().signal,
  );
  const refusal = {
    kind: "invalid",
    reason: ErrorReason.INVALID_REQUEST,
    message: "the request is nested deeper than 32 levels; send a flatter one",
  };
  const options = { baseUrl: server.url, httpVersion: "2" } as const;
  const transports = [
    createGrpcTransport(options),
    createConnectTransport(options),
    createConnectTransport({ ...options, useBinaryFormat: false }),
  ];
  for (const transport of transports) {
    const client = createClient(ApprovalService, transport);
    const decide = (levels: number) =>
      client.decideApproval({ approvalId: "a", approved: true, editedArguments: nested(levels) });
    expect(await refusalOf(decide(60))).toMatchObject(refusal);
    expect(await refusalOf(decide(300))).toMatchObject(refusal);
    expect(await decide(24)).toBeDefined();
  }
});

test("an unknown method is unsupported", async () => {
  await using bench = await served();
  const client = createClient(RunService, bench.transport);
  expect(await refusalOf(client.getRun({ runId: "r" }))).toMatchObject({ kind: "unsupported" });
});

test("a draining server ends its streams with instructions to resume", async () => {
  const bench = await served({
    async *watchRun(_, { signal }) {
      yield { throughSequence: 1 };
      await once(signal, "abort");
      throw signal.reason;
    },
  });
  const client = createClient(RunService, bench.transport);
  const messages = client.watchRun({ runId: "r" })[Symbol.asyncIterator]();
  await messages.next();
  const next = refusalOf(messages.next());
  await bench[Symbol.asyncDispose]();
  expect(await next).toMatchObject({ kind: "unavailable", reason: ErrorReason.DRAINING });
});

test("a draining server answers the requests that it already has", async () => {
  const received = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const bench = await served({
    async startRun() {
      received.resolve();
      await answer.promise;
      return { run: { runId: "r" } };
    },
  });
  const client = createClient(RunService, bench.transport);
  const started = client.startRun({ agentId: "known", input: "hello" });
  await received.promise;
  const gone = bench[Symbol.asyncDispose]();
  answer.resolve();
  expect((await started).run?.runId).toBe("r");
  await gone;
});

test("a draining server on a listener that stays open answers its requests, and accepts no more", async () => {
  await using listener = await openListener(
    { host: "127.0.0.1", port: 0 },
    pino({ level: "silent" }),
  );
  const received = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const done: string[] = [];
  const getRun = async () => {
    received.resolve();
    await answer.promise;
    done.push("answered");
    return {};
  };
  const bench = await served({ getRun }, { listener });
  const client = createClient(RunService, bench.transport);
  const call = client.getRun({ runId: "r" });
  await received.promise;
  const gone = bench[Symbol.asyncDispose]().then(() => done.push("gone"));
  expect(await refusalOf(client.getRun({ runId: "r" }))).toMatchObject({ kind: "unavailable" });
  expect((await fetch(`${listener.url}/livez`)).status).toBe(200);
  answer.resolve();
  await call;
  await gone;
  expect(done).toEqual(["answered", "gone"]);
});

test("a draining server on a listener that stays open does not wait forever for a request", async () => {
  await using listener = await openListener(
    { host: "127.0.0.1", port: 0 },
    pino({ level: "silent" }),
  );
  const received = Promise.withResolvers<void>();
  const getRun = () => {
    received.resolve();
    return new Promise<never>(() => undefined);
  };
  const bench = await served({ getRun }, { listener });
  const call = refusalOf(createClient(RunService, bench.transport).getRun({ runId: "r" }));
  await received.promise;
  await bench[Symbol.asyncDispose]();
  await listener[Symbol.asyncDispose]();
  expect(await call).toMatchObject({ kind: "unavailable" });
});

test("an address that is in use is refused with instructions", async () => {
  await using first = await served();
  await expect(served({}, { port: first.server.port })).rejects.toMatchObject({
    kind: "unavailable",
    message: `cannot listen on 127.0.0.1:${first.server.port}: another program uses it; end that program or choose another address`,
  });
});

test("health, readiness, metrics, and unknown paths are served over plain HTTP", async () => {
  let isReady = true;
  await using bench = await served({}, { ready: () => isReady });
  const status = async (path: string) => (await fetch(`${bench.server.url}${path}`)).status;
  expect([await status("/healthz"), await status("/readyz")]).toEqual([200, 200]);
  isReady = false;
  expect([await status("/healthz"), await status("/readyz")]).toEqual([200, 503]);
  expect([await status("/livez"), await status("/metrics")]).toEqual([200, 200]);
  expect(await status("/nothing?x=1")).toBe(404);
});

/** An empty HTTP/2 settings frame. */
const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);

test.each([
  ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", settings, (answer: Buffer) => answer[3] === 4],
  [
    "POST /nothing HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n",
    Buffer.alloc(0),
    (answer: Buffer) => answer.toString().startsWith("HTTP/1.1 404"),
  ],
])(
  "a client whose first bytes arrive one by one is understood: %j",
  async (text, rest, isRight) => {
    await using bench = await served();
    const socket = connect(bench.server.port, "127.0.0.1").setNoDelay(true);
    await once(socket, "connect");
    const answer = once(socket, "data");
    for (const byte of text.slice(0, 4)) {
      socket.write(byte);
      // The server answers this request after it has read the byte.
      await fetch(`${bench.server.url}/healthz`);
    }
    socket.write(Buffer.concat([Buffer.from(text.slice(4)), rest]));
    const [first] = (await answer) as [Buffer];
    expect(isRight(first)).toBe(true);
    socket.destroy();
  },
);

test("a client that never finishes its headers is disconnected", async () => {
  await using bench = await served();
  const socket = connect(bench.server.port, "127.0.0.1");
  const answer = once(socket, "data");
  socket.write("GET /healthz HTTP/1.1\r\nhost: a\r\n");
  const closed = once(socket, "close");
  const [first] = (await answer) as [Buffer];
  expect(first.toString()).toMatch(/^HTTP\/1.1 408 /);
  await closed;
});

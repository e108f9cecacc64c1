import { once } from "node:events";
import { request as http1Request } from "node:http";
import type { ClientHttp2Session, IncomingHttpHeaders } from "node:http2";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { json } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { createClient } from "@connectrpc/connect";
import { RunService } from "@reeve/contracts/run";
import { describe, expect, test } from "vitest";
import { fixedCredentials } from "../src/rpc/credentials/bearer-tokens.ts";
import { authenticate } from "../src/rpc/principal.ts";
import { allRoles } from "../src/rpc/roles.ts";
import type { Served } from "./support/served.ts";
import { served } from "./support/served.ts";

const tokens = new Map([
  ["token-of-acme", { tenant: "acme", subject: "ann", roles: allRoles }],
  ["token-of-globex", { tenant: "globex", subject: "ann", roles: allRoles }],
]);
const authorization = "Bearer token-of-acme";
const path = "/reeve.run.v1.RunService/StartRun";
const service = {
  startRun: () => ({ run: { runId: "started" } }),
  getRun: () => ({ run: { runId: "found" } }),
};
const valid = { agentId: "known", input: "hello" };

function authenticated(options: Parameters<typeof served>[1] = {}): Promise<Served> {
  return served(service, { authenticate: authenticate(fixedCredentials(tokens)), ...options });
}

function envelope(flags: number, content: Uint8Array): Buffer {
  const header = Buffer.alloc(5);
  header.writeUInt8(flags);
  header.writeUInt32BE(content.length, 1);
  return Buffer.concat([header, content]);
}

/** Posts a request that no client library would send, over HTTP/1.1. */
async function post(url: string, headers: Record<string, string>, body: Uint8Array | string = "") {
  const response = await fetch(`${url}${path}`, { method: "POST", headers, body });
  return {
    status: response.status,
    body: (await response.json()) as { code: string; message: string },
  };
}

/** Opens a request over HTTP/2 that has not sent its body yet. */
function open(session: ClientHttp2Session, headers: Record<string, string>) {
  const stream = session.request({ ":method": "POST", ":path": path, ...headers });
  stream.on("error", () => undefined);
  const answer = once(stream, "response").then(([head]) => head as IncomingHttpHeaders);
  return { stream, answer };
}

async function http2Of(url: string, opened: DisposableStack): Promise<ClientHttp2Session> {
  const session = opened.adopt(connectHttp2(url), (open) => open.destroy());
  session.on("error", () => undefined);
  await once(session, "remoteSettings");
  return session;
}

describe("a request without a credential is refused before its body arrives", () => {
  test.each([
    ["Connect", "application/json", "401"],
    ["Connect with protobuf", "application/proto", "401"],
    ["gRPC", "application/grpc", "16"],
    ["gRPC-Web", "application/grpc-web+json", "16"],
  ])("over %s on HTTP/2", async (_, type, status) => {
    await using bench = await authenticated();
    using opened = new DisposableStack();
    const session = await http2Of(bench.server.url, opened);
    const { answer } = open(session, { "content-type": type });
    const head = await answer;
    expect(
      type.includes("grpc") ? (head["grpc-status"] ?? "trailer") : String(head[":status"]),
    ).toMatch(new RegExp(`^(${status}|trailer)$`));
  });

  test("over HTTP/1.1", async () => {
    await using bench = await authenticated();
    const headers = { "content-type": "application/json", "content-length": 4_000_000 };
    const request = http1Request(`${bench.server.url}${path}`, { method: "POST", headers });
    request.on("error", () => undefined);
    request.flushHeaders();
    const [response] = await once(request, "response");
    expect(response.statusCode).toBe(401);
    expect(await json(response)).toMatchObject({ code: "unauthenticated" });
  });
});

describe("a body that is cheap to send and expensive to parse is refused", () => {
  const many = 1_000_000;
  const objects = gzipSync(`{"messages":[${"{},".repeat(many)}{}]}`);
  const fields = gzipSync(Buffer.alloc(many * 2, Buffer.from([0x22, 0])));
  const refusal = {
    code: "resource_exhausted",
    message: "the message has more than 50000 values; send a smaller one",
  };

  test.each([
    ["JSON", "application/json", objects],
    ["protobuf", "application/proto", fields],
  ])("as %s over Connect", async (_, type, body) => {
    await using bench = await authenticated();
    const headers = { authorization, "content-type": type, "content-encoding": "gzip" };
    expect(await post(bench.server.url, headers, body)).toMatchObject({
      status: 429,
      body: refusal,
    });
  });

  test.each([
    ["JSON", "application/grpc+json", objects],
    ["protobuf", "application/grpc", fields],
  ])("as %s over gRPC", async (_, type, body) => {
    await using bench = await authenticated();
    using opened = new DisposableStack();
    const session = await http2Of(bench.server.url, opened);
    const headers = { authorization, "content-type": type, "grpc-encoding": "gzip" };
    const { stream } = open(session, headers);
    const trailers = once(stream, "trailers");
    stream.end(envelope(1, body));
    stream.resume();
    const [trailer] = (await trailers) as [IncomingHttpHeaders];
    expect(trailer["grpc-status"]).toBe("8");
  });

  test("when it decompresses to more than a message may have", async () => {
    await using bench = await authenticated();
    const headers = {
      authorization,
      "content-type": "application/json",
      "content-encoding": "gzip",
    };
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024, " "));
    expect((await post(bench.server.url, headers, bomb)).body).toMatchObject({
      code: "resource_exhausted",
      message: expect.stringContaining("larger than 4194304 bytes"),
    });
  });
});

describe("a body that cannot be read is refused with instructions", () => {
  test.each(["application/proto", "application/json"])("as malformed %s", async (type) => {
    await using bench = await authenticated();
    const headers = { authorization, "content-type": type };
    const answer = await post(bench.server.url, headers, Buffer.from([255, 255, 255, 255, 1, 2]));
    expect(answer).toMatchObject({ status: 400, body: { code: "invalid_argument" } });
  });

  test("as malformed gzip", async () => {
    await using bench = await authenticated();
    const headers = {
      authorization,
      "content-type": "application/json",
      "content-encoding": "gzip",
    };
    const answer = await post(bench.server.url, headers, "no gzip");
    expect(answer).toMatchObject({ status: 400, body: { code: "invalid_argument" } });
  });

  test("as another media type", async () => {
    await using bench = await authenticated();
    const answer = await post(bench.server.url, { "content-type": "text/html" }, "hello");
    expect(answer.status).toBe(415);
    expect(answer.body.message).toMatch(/text\/html.*application\/json.*application\/grpc/s);
  });
});

test.each([
  ["no host", "HTTP/1.0\r\n"],
  ["a malformed host", "HTTP/1.1\r\nhost: [\r\n"],
])("a request with %s does not end the server", async (_, head) => {
  await using bench = await authenticated();
  const socket = connect(bench.server.port, "127.0.0.1");
  socket.write(`POST ${path} ${head}content-type: application/json\r\ncontent-length: 2\r\n\r\n{}`);
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toContain("401 Unauthorized");
  socket.destroy();
});

test("web pages of other origins can call the API, and read nothing else", async () => {
  await using bench = await authenticated();
  const allowed = async (url: string, method: string) => {
    const headers = { origin: "https://other.example", "content-type": "application/json" };
    const response = await fetch(`${bench.server.url}${url}`, { method, headers });
    return response.headers.get("access-control-allow-origin");
  };
  expect(await allowed(path, "POST")).toBe("*");
  for (const url of ["/metrics", "/livez", "/readyz", "/nothing"]) {
    expect(await allowed(url, "GET")).toBeNull();
  }
  const reflection = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
  for (const url of ["/grpc.health.v1.Health/Check", reflection]) {
    expect(await allowed(url, "POST")).toBeNull();
  }
});

test("after a refusal, the rest of an endless body is not read", async () => {
  await using bench = await authenticated();
  const socket = connect(bench.server.port, "127.0.0.1");
  socket.on("error", () => undefined);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  const head = `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`;
  socket.write(head);
  const chunk = Buffer.from(`10000\r\n${" ".repeat(65_536)}\r\n`);
  let sent = 0;
  while (!socket.destroyed && sent < 512 * 1024 * 1024) {
    sent += chunk.length;
    if (socket.write(chunk)) continue;
    await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), closed]);
  }
  await closed;
  expect(sent).toBeLessThan(64 * 1024 * 1024);
});

describe("a body that never ends", () => {
  const limits = { requestTimeoutMs: 200 };

  test.each([
    ["over Connect", "application/json", '{"agentId":"kn'],
    ["over gRPC", "application/grpc", envelope(0, Buffer.alloc(90)).subarray(0, 50)],
    ["in a stream of envelopes", "application/grpc", Buffer.from([0])],
  ])("is refused %s", async (_, type, start) => {
    await using bench = await authenticated({ limits });
    using opened = new DisposableStack();
    const session = await http2Of(bench.server.url, opened);
    const { stream, answer } = open(session, { authorization, "content-type": type });
    stream.write(start);
    stream.resume();
    const closed = once(stream, "close");
    expect((await answer)[":status"]).toBe(type === "application/json" ? 503 : 200);
    await closed;
  });

  test("is refused over HTTP/1.1, and its connection is closed", async () => {
    await using bench = await authenticated({ limits });
    const socket = connect(bench.server.port, "127.0.0.1");
    const closed = once(socket, "close");
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: a\r\nauthorization: ${authorization}\r\ncontent-type: application/json\r\ncontent-length: 4000\r\n\r\n{`,
    );
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toContain("HTTP/1.1 503");
    await closed;
  });
});

test("unfinished bodies of one tenant leave room for the bodies of another", async () => {
  await using bench = await authenticated({ limits: { maxHeldBytes: 8 * 1024 * 1024 } });
  using opened = new DisposableStack();
  const session = await http2Of(bench.server.url, opened);
  const big = Buffer.alloc(3 * 1024 * 1024, " ");
  const headers = { authorization, "content-type": "application/json" };
  const attack = Array.from({ length: 4 }, () => open(session, headers));
  for (const { stream } of attack) stream.write(big);
  const refused = await Promise.race(attack.map(({ answer }) => answer));
  expect(refused[":status"]).toBe(429);
  const client = createClient(RunService, bench.transport);
  const other = { headers: { authorization: "Bearer token-of-globex" } };
  expect((await client.startRun(valid, other)).run?.runId).toBe("started");
  for (const { stream } of attack) stream.destroy();
});

describe("connections", () => {
  test("over the limit of an address are closed, and the others continue to work", async () => {
    await using bench = await authenticated({ limits: { maxConnectionsPerAddress: 3 } });
    const client = createClient(RunService, bench.transport);
    const call = () => client.getRun({ runId: "r" }, { headers: { authorization } });
    await call();
    const idle = Array.from({ length: 3 }, () => connect(bench.server.port, "127.0.0.1"));
    for (const socket of idle) socket.on("error", () => undefined);
    await Promise.race(idle.map((socket) => once(socket, "close")));
    expect((await call()).run?.runId).toBe("found");
    for (const socket of idle) socket.destroy();
  });

  test("over the limit of the server are closed", async () => {
    await using bench = await authenticated({ limits: { maxConnections: 1 } });
    const first = connect(bench.server.port, "127.0.0.1");
    await once(first, "connect");
    const second = connect(bench.server.port, "127.0.0.1").on("error", () => undefined);
    await once(second, "close");
    expect(first.destroyed).toBe(false);
    first.destroy();
  });

  test("have a limited number of streams", async () => {
    await using bench = await authenticated({ limits: { maxStreams: 7 } });
    using opened = new DisposableStack();
    const session = await http2Of(bench.server.url, opened);
    expect(session.remoteSettings.maxConcurrentStreams).toBe(7);
  });
});

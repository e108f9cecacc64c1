import { once } from "node:events";
import type { ClientHttp2Session, ClientHttp2Stream } from "node:http2";
import { connect as connectHttp2 } from "node:http2";
import type { Socket } from "node:net";
import { connect } from "node:net";
import process from "node:process";
import type { Duplex } from "node:stream";
import { gzipSync } from "node:zlib";
import type { Connection } from "@reeve/client";
import { openConnection } from "@reeve/client";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Deployment } from "./support/deployment.ts";

const attacker = "token-of-the-attacker";
const bystander = "token-of-a-bystander";
const startRun = "/reeve.run.v1.RunService/StartRun";
const mebibyte = 1024 * 1024;
const resources = new AsyncDisposableStack();
let deployment: Deployment;
let hostile: Connection;
let other: Connection;

beforeAll(async () => {
  deployment = resources.use(
    await Deployment.start({
      // What is not bounded ends a process with this heap.
      NODE_OPTIONS: "--max-old-space-size=256",
      REEVE_TOKENS: `${attacker}=acme/eve,${bystander}=globex/ann`,
    }),
  );
  hostile = resources.use(openConnection({ address: deployment.url, token: attacker }));
  other = resources.use(openConnection({ address: deployment.url, token: bystander }));
});

afterAll(() => resources.disposeAsync());

/** The gateway is alive, the process that it was, and answers somebody else. */
async function expectService(pid: number): Promise<void> {
  expect(deployment.pidOf("gateway")).toBe(pid);
  expect(process.kill(pid, 0)).toBe(true);
  const { memory } = await other.memories.createMemory({ text: "still here" });
  expect(memory?.text).toBe("still here");
}

interface Sent {
  readonly path?: string;
  readonly token?: string | undefined;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends one request that no client library would send. Resolves with its status. */
async function post(
  body: Uint8Array | string,
  { path = startRun, token, type = "application/json", headers }: Sent,
): Promise<{ readonly status: number; readonly bytes: number }> {
  const response = await fetch(`${deployment.url}${path}`, {
    method: "POST",
    headers: {
      "content-type": type,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body,
  });
  return { status: response.status, bytes: (await response.arrayBuffer()).byteLength };
}

let pid = 0;
beforeEach(() => {
  pid = deployment.pidOf("gateway");
});

describe("a gateway with a small heap outlives", () => {
  const many = 1_390_000;
  const json = gzipSync(`{"messages":[${"{},".repeat(many)}{}]}`);
  const protobuf = gzipSync(Buffer.alloc(2 * many, Buffer.from([0x22, 0])));

  test.each([
    ["without a token", undefined, 401],
    ["with a token", attacker, 429],
  ])("bodies that are small until they are decompressed, %s", async (_, token, status) => {
    const headers = { "content-encoding": "gzip" };
    const answers = await Promise.all(
      Array.from({ length: 12 }, (__, index) =>
        index % 2 === 0
          ? post(json, { token, headers })
          : post(protobuf, { token, headers, type: "application/proto" }),
      ),
    );
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => status));
    await expectService(pid);
  });

  test.each([
    ["CreateAgent", 20_000, 400],
    ["CreateAgent", 100_000, 429],
    ["UpdateAgent", 20_000, 404],
    ["ValidateAgent", 20_000, 200],
  ])("%s with %i tools that do not exist", async (method, count, status) => {
    const hitlTools = Array.from({ length: count }, (_, index) => `t${index}`);
    const body = JSON.stringify({
      spec: { id: "x", name: "x", model: "scripted:talk", hitlTools },
    });
    const path = `/reeve.agent.v1.AgentService/${method}`;
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => post(body, { path, token: attacker })),
    );
    for (const answer of answers) {
      expect([400, status]).toContain(answer.status);
      // ValidateAgent also returns the spec.
      expect(answer.bytes).toBeLessThan(body.length + 64 * 1024);
    }
    await expectService(pid);
  });

  test("downloads in parallel, of which some are never read", async () => {
    const size = 20 * mebibyte;
    const { artifact } = await hostile.artifacts.uploadArtifact(upload(size));
    const artifactId = artifact?.artifactId ?? "";
    using sessions = new DisposableStack();
    const unread = Array.from({ length: 24 }, () => stalledDownload(sessions, artifactId));
    await Promise.all(unread.map((stream) => once(stream, "response")));
    const read = Array.from({ length: 4 }, () => downloadedBytes(artifactId));
    await expectService(pid);
    expect(await Promise.all(read)).toEqual(read.map(() => size));
    await expectService(pid);
  });

  test("unfinished bodies of many requests", async () => {
    using sessions = new DisposableStack();
    const streams = Array.from({ length: 4 }, () => opened(sessions)).flatMap((session) =>
      Array.from({ length: 30 }, () => unfinished(session)),
    );
    // The first of them are refused; the others stay open while somebody else is served.
    await Promise.race(streams.map((stream) => closed(stream)));
    await expectService(pid);
  });

  test("more connections than an address may have", async () => {
    const sockets = Array.from({ length: 2_200 }, () => idleSocket());
    const ended = sockets.map((socket) => closed(socket));
    await Promise.race(ended);
    for (const socket of sockets) socket.destroy();
    await Promise.all(ended);
    await expectService(pid);
  });
});

/** Resolves when a stream or socket is closed, with or without an error. */
async function closed(stream: Duplex): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  stream.once("close", resolve);
  await promise;
}

async function* upload(size: number) {
  yield { part: { case: "header" as const, value: { name: "big" } } };
  const chunk = Buffer.alloc(mebibyte, 1);
  for (let sent = 0; sent < size; sent += chunk.length) {
    yield await Promise.resolve({ part: { case: "chunk" as const, value: chunk } });
  }
}

async function downloadedBytes(artifactId: string): Promise<number> {
  let bytes = 0;
  for await (const { part } of hostile.artifacts.downloadArtifact({ artifactId })) {
    if (part.case === "chunk") bytes += part.value.length;
  }
  return bytes;
}

function opened(resourcesOfTest: DisposableStack): ClientHttp2Session {
  const session = resourcesOfTest.adopt(connectHttp2(deployment.url), (open) => open.destroy());
  session.on("error", () => undefined);
  return session;
}

function request(session: ClientHttp2Session, path: string, type: string): ClientHttp2Stream {
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": type,
    authorization: `Bearer ${attacker}`,
  });
  stream.on("error", () => undefined);
  return stream;
}

/** Requests a download and never reads the answer. */
function stalledDownload(sessions: DisposableStack, artifactId: string): ClientHttp2Stream {
  const path = "/reeve.artifact.v1.ArtifactService/DownloadArtifact";
  const stream = request(opened(sessions), path, "application/connect+json");
  const message = Buffer.from(JSON.stringify({ artifactId }));
  const envelope = Buffer.alloc(5);
  envelope.writeUInt32BE(message.length, 1);
  stream.end(Buffer.concat([envelope, message]));
  return stream.pause();
}

/** Sends almost as much as a message may have, and never its end. */
function unfinished(session: ClientHttp2Session): ClientHttp2Stream {
  const stream = request(session, startRun, "application/json");
  stream.write(Buffer.alloc(4 * mebibyte - 1, " "));
  return stream;
}

function idleSocket(): Socket {
  const { hostname, port } = new URL(deployment.url);
  return connect(Number(port), hostname).on("error", () => undefined);
}

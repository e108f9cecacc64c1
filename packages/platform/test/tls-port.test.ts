import { once } from "node:events";
import { request as http1Request } from "node:https";
import { connect as connectHttp2 } from "node:http2";
import type { Socket } from "node:net";
import { connect as connectTcp } from "node:net";
import { text } from "node:stream/consumers";
import type { ConnectionOptions, TLSSocket } from "node:tls";
import { connect as connectTls } from "node:tls";
import { createClient } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { RunService } from "@reeve/contracts/run";
import type { CertifiedKey } from "@reeve/sandbox/test/support/certificates";
import { Authority } from "@reeve/sandbox/test/support/certificates";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { abortable } from "../src/async/abortable.ts";
import { systemClock } from "../src/async/clock.ts";
import { defaultLimits } from "../src/rpc/server-limits.ts";
import type { ServeOptions } from "../src/rpc/server.ts";
import { openServerTls } from "../src/tls/server-tls.ts";
import { served } from "./support/served.ts";
import { TlsFolder } from "./support/tls-files.ts";

let authority: Authority;
let first: CertifiedKey;

beforeAll(async () => {
  authority = await Authority.create();
  first = await authority.certify("127.0.0.1");
});

const opened = new DisposableStack();
afterAll(() => opened.dispose());

/** Serves RunService with TLS. A watch sends a message at its start, and one whenever `next` is called. */
async function servedWithTls(options: Partial<ServeOptions> = {}) {
  const folder = opened.use(new TlsFolder(first));
  const tls = openServerTls(folder.settings, {
    clock: systemClock,
    log: pino({ level: "silent" }),
  });
  if (tls === undefined) throw new Error("no certificate");
  opened.use(tls);
  let due = Promise.withResolvers<void>();
  const bench = await served(
    {
      getRun: () => ({ run: { runId: "found" } }),
      async *watchRun(_, { signal }) {
        for (let throughSequence = 1; ; throughSequence++) {
          yield { throughSequence };
          await abortable(due.promise, signal);
          due = Promise.withResolvers();
        }
      },
    },
    { tls, ...options },
  );
  return Object.assign(bench, { folder, next: () => due.resolve() });
}

function secure(port: number, options: ConnectionOptions = {}): TLSSocket {
  return connectTls({ host: "127.0.0.1", port, ca: authority.ca, ...options });
}

/** Returns the serial number of the certificate that new connections get. */
async function serialAt(port: number): Promise<string> {
  const socket = secure(port);
  await once(socket, "secureConnect");
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}

describe("calls over TLS succeed", () => {
  test.each([
    ["gRPC", createGrpcTransport],
    ["gRPC-Web over HTTP/2", createGrpcWebTransport, "2"],
    ["gRPC-Web over HTTP/1.1", createGrpcWebTransport, "1.1"],
    ["Connect over HTTP/2", createConnectTransport, "2"],
    ["Connect over HTTP/1.1", createConnectTransport, "1.1"],
  ] as const)("over %s", async (_, create, httpVersion = "2") => {
    await using bench = await servedWithTls();
    const nodeOptions = { ca: authority.ca };
    const transport = create({ baseUrl: bench.server.url, httpVersion, nodeOptions });
    const client = createClient(RunService, transport);
    expect((await client.getRun({ runId: "r" })).run?.runId).toBe("found");
    for await (const { throughSequence } of client.watchRun({ runId: "r" })) {
      expect(throughSequence).toBe(1);
      break;
    }
  });

  test("and so do probes, metrics, and connections that are kept open", async () => {
    await using bench = await servedWithTls();
    expect(bench.server.url).toMatch(/^https:/);
    const statuses: (number | undefined)[] = [];
    for (const path of ["/livez", "/readyz", "/metrics", "/nothing"]) {
      const request = http1Request(`${bench.server.url}${path}`, { ca: authority.ca }).end();
      const [response] = await once(request, "response");
      response.resume();
      statuses.push(response.statusCode);
    }
    expect(statuses).toEqual([200, 200, 200, 404]);
  });
});

test("a client chooses HTTP/2 or HTTP/1.1 with ALPN, and TLS 1.2 or newer", async () => {
  await using bench = await servedWithTls();
  const chosen = async (options: ConnectionOptions) => {
    const socket = secure(bench.server.port, options);
    await once(socket, "secureConnect");
    const result = [socket.alpnProtocol, socket.getProtocol()];
    socket.destroy();
    return result;
  };
  expect(await chosen({ ALPNProtocols: ["h2", "http/1.1"] })).toEqual(["h2", "TLSv1.3"]);
  expect(await chosen({ ALPNProtocols: ["http/1.1"] })).toEqual(["http/1.1", "TLSv1.3"]);
  expect(await chosen({ maxVersion: "TLSv1.2" })).toEqual([false, "TLSv1.2"]);
  const old = { minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "ALL@SECLEVEL=0" } as const;
  await expect(chosen(old)).rejects.toThrow(/alert|version/);
});

test("a new certificate serves new connections, while open streams go on", async () => {
  await using bench = await servedWithTls();
  const transport = createGrpcTransport({
    baseUrl: bench.server.url,
    nodeOptions: { ca: authority.ca },
  });
  const messages = createClient(RunService, transport).watchRun({ runId: "r" });
  const watch = messages[Symbol.asyncIterator]();
  expect((await watch.next()).value).toMatchObject({ throughSequence: 1 });
  const before = await serialAt(bench.server.port);
  bench.folder.swap(await authority.certify("127.0.0.1"));
  await vi.waitFor(async () => expect(await serialAt(bench.server.port)).not.toBe(before), {
    timeout: 20_000,
  });
  bench.next();
  expect((await watch.next()).value).toMatchObject({ throughSequence: 2 });
  await watch.return?.();
});

describe("a client without TLS is told so, and disconnected", () => {
  test("over HTTP/1.1", async () => {
    await using bench = await servedWithTls();
    const answer = await fetch(`http://127.0.0.1:${bench.server.port}/livez`);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain("this port uses TLS; use https://");
  });

  test("over HTTP/2", async () => {
    await using bench = await servedWithTls();
    const session = connectHttp2(`http://127.0.0.1:${bench.server.port}`);
    const ended = once(session, "close");
    const [code, , reason] = await once(session, "goaway");
    expect([code, String(reason)]).toEqual([
      0xc,
      "this port uses TLS; use https:// instead of http://",
    ]);
    await expect(ended).rejects.toThrow("Session closed with error code 12");
  });

  test("with bytes of no protocol", async () => {
    await using bench = await servedWithTls();
    const socket = connectTcp(bench.server.port, "127.0.0.1");
    socket.end("\0\0\0");
    expect(await text(socket)).toContain("400 Bad Request");
  });
});

test("HTTP/2 without ALPN is refused with the reason", async () => {
  await using bench = await servedWithTls();
  const socket = secure(bench.server.port);
  socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  expect(await text(socket)).toContain("HTTP/2 over TLS needs ALPN with the protocol h2");
});

test("a client that offers no protocol of the server is refused in the handshake", async () => {
  await using bench = await servedWithTls();
  const socket = secure(bench.server.port, { ALPNProtocols: ["spdy/3"] });
  await expect(once(socket, "secureConnect")).rejects.toThrow(/no application protocol/);
});

describe("a connection is bounded", () => {
  const silences: readonly (readonly [string, (port: number) => Promise<Socket>])[] = [
    ["before its handshake", (port) => Promise.resolve(connectTcp(port, "127.0.0.1"))],
    [
      "within its handshake",
      (port) => {
        const socket = connectTcp(port, "127.0.0.1");
        socket.write(Buffer.from([0x16, 3, 1, 2, 0, 1]));
        return Promise.resolve(socket);
      },
    ],
    [
      "after its handshake",
      async (port) => {
        const socket = secure(port);
        await once(socket, "secureConnect");
        return socket;
      },
    ],
    [
      "after the start of its request",
      async (port) => {
        const socket = secure(port);
        await once(socket, "secureConnect");
        socket.write("GET /livez HTTP/1.1\r\nhost: a\r\n");
        return socket;
      },
    ],
  ];

  test.concurrent.each(silences)("if it is silent %s", async (_, open) => {
    await using bench = await servedWithTls();
    const socket = await open(bench.server.port);
    socket.on("error", () => undefined);
    socket.resume();
    const startedAt = performance.now();
    await once(socket, "close");
    expect(performance.now() - startedAt).toBeGreaterThan(5_000);
  });

  test("if its address has too many", async () => {
    await using bench = await servedWithTls({
      limits: { ...defaultLimits, maxConnectionsPerAddress: 2 },
    });
    const [one, two] = [secure(bench.server.port), secure(bench.server.port)];
    await Promise.all([once(one, "secureConnect"), once(two, "secureConnect")]);
    await expect(once(secure(bench.server.port), "secureConnect")).rejects.toThrow(
      /disconnected|ECONNRESET/,
    );
    const closed = once(one, "close");
    one.destroy();
    await closed;
    await vi.waitFor(async () => expect(await serialAt(bench.server.port)).not.toBe(""), {
      timeout: 20_000,
    });
    two.destroy();
  });
});

test("a client that leaves within its handshake, or sends garbage, does no harm", async () => {
  await using bench = await servedWithTls();
  for (const bytes of [[0x16], [0x16, 3, 1, 0, 5, 1, 2, 3, 4, 5], [0x16, 0xff, 0xff, 0xff]]) {
    const socket = connectTcp(bench.server.port, "127.0.0.1");
    socket.on("error", () => undefined);
    await once(socket, "connect");
    socket.end(Buffer.from(bytes));
    socket.resume();
    await once(socket, "close");
  }
  const reset = connectTcp(bench.server.port, "127.0.0.1");
  await once(reset, "connect");
  reset.write(Buffer.from([0x16, 3, 1]));
  reset.resetAndDestroy();
  expect(await serialAt(bench.server.port)).not.toBe("");
  expect(bench.logged).toEqual([]);
});

test("a server with open connections over TLS ends", async () => {
  const bench = await servedWithTls();
  const session = connectHttp2(bench.server.url, { ca: authority.ca });
  session.on("error", () => undefined);
  await once(session, "remoteSettings");
  const idle = secure(bench.server.port);
  idle.on("error", () => undefined);
  await once(idle, "secureConnect");
  const closed = [once(session, "close"), once(idle, "close")];
  idle.resume();
  await bench[Symbol.asyncDispose]();
  await Promise.all(closed);
  expect([session.destroyed, idle.destroyed]).toEqual([true, true]);
});

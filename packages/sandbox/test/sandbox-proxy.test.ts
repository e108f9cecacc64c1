import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { connect } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { parseNetworkEntry } from "@reeve/agent/spec/network-entry";
import type { ResolveHost } from "../src/network/lookups.ts";
import { Lookups } from "../src/network/lookups.ts";
import { SandboxProxy } from "../src/network/sandbox-proxy.ts";
import { recordingLog } from "./support/recording-log.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

const sockets = new Set<Socket>();
const server = createServer((request, response) => {
  void buffer(request).then((body) => response.end(`${request.method} ${body.toString()}`));
});
server.on("connection", (socket) => {
  sockets.add(socket);
  socket.once("close", () => sockets.delete(socket));
});
let port = 0;

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ({ port } = server.address() as AddressInfo);
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Starts a proxy that serves a call, with `resolve` for all names. */
async function startProxy(resolve: ResolveHost) {
  await using starting = new AsyncDisposableStack();
  const folder = starting.use(await temporaryFolder());
  const { log, logged } = recordingLog();
  const entries = [`*:${port}`, `127.0.0.1:${port}`, "*:443", "*:80"].flatMap(
    (text) => parseNetworkEntry(text, "operator") ?? [],
  );
  const proxy = starting.use(
    new SandboxProxy({
      entries,
      ranges: ["127.0.0.1"],
      maxBytes: 1_000_000,
      lookups: new Lookups(resolve),
      log,
    }),
  );
  const path = join(folder.path, "proxy");
  await proxy.listen(path);
  const call = starting.use(proxy.serve({ allow: [], runId: "run-1", callId: "call-1" }));
  const resources = starting.move();
  return {
    logged,
    call,
    /** Connects a client that sends `text`. */
    send: (text: string) => {
      const client = connect(path);
      client.on("error", () => undefined).write(text);
      return client;
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

const resolveLocally: ResolveHost = () => Promise.resolve(["127.0.0.1"]);

/** A resolver that reports a request, and answers when the test calls `answer`. */
function slowResolver() {
  const [requested, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<string[]>()];
  const resolve: ResolveHost = () => {
    requested.resolve();
    return answered.promise;
  };
  return { resolve, requested: requested.promise, answer: () => answered.resolve(["127.0.0.1"]) };
}

describe("the proxy of a sandbox", () => {
  test.each([
    `CONNECT slow.test:443 HTTP/1.1\r\n\r\n`,
    `GET http://slow.test/ HTTP/1.1\r\nhost: slow.test\r\n\r\n`,
  ])("can be disposed during a pending lookup: %j", async (text) => {
    const slow = slowResolver();
    const proxy = await startProxy(slow.resolve);
    const client = proxy.send(text);
    await slow.requested;
    const closed = once(client, "close");
    client.resume();
    await proxy[Symbol.asyncDispose]();
    await closed;
    expect(proxy.logged).toMatchObject([{ host: "slow.test" }]);
  });

  test.each(["content-length", "transfer-encoding", "host"])(
    "refuses a request whose connection header names its %s",
    async (name) => {
      await using proxy = await startProxy(resolveLocally);
      const body = name === "transfer-encoding" ? "2\r\nab\r\n0\r\n\r\n" : "ab";
      const length = name === "transfer-encoding" ? `${name}: chunked` : "content-length: 2";
      const client = proxy.send(
        `POST http://a.test:${port}/ HTTP/1.1\r\nhost: a.test\r\n${length}\r\nconnection: X-Own, ${name}\r\n\r\n${body}`,
      );
      const answer = (await buffer(client)).toString();
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toContain(`the header connection names ${name}`);
      expect(proxy.logged).toMatchObject([{ host: "a.test", outcome: "refused" }]);
    },
  );

  test("forwards a request whose connection header names other headers", async () => {
    await using proxy = await startProxy(resolveLocally);
    const client = proxy.send(
      `POST http://a.test:${port}/ HTTP/1.1\r\nhost: a.test\r\ncontent-length: 2\r\nconnection: close, x-own\r\n\r\nab`,
    );
    expect((await buffer(client)).toString()).toMatch(/^HTTP\/1\.1 200 [^]*POST ab/);
  });

  test("closes the connection to a host if the client left before it was open", async () => {
    const slow = slowResolver();
    await using proxy = await startProxy(slow.resolve);
    const client = proxy.send(`GET http://a.test:${port}/ HTTP/1.1\r\nhost: a.test\r\n\r\n`);
    await slow.requested;
    client.destroy();
    await once(client, "close");
    // Once this request is answered, the proxy has noticed that the other client left.
    const later = proxy.send(
      `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`,
    );
    expect((await buffer(later)).toString()).toMatch(/^HTTP\/1\.1 200 /);
    slow.answer();
    await vi.waitFor(() => {
      expect(proxy.logged).toMatchObject([
        { host: "127.0.0.1" },
        { host: "a.test", reason: "closed" },
      ]);
      expect(sockets.size).toBe(0);
    }, 5_000);
  });
});

import type { IncomingMessage, ServerResponse } from "node:http";
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import type { JsonObject } from "@bufbuild/protobuf";
import { parseNetworkEntry } from "@reeve/agent/spec/network-entry";
import { Authority } from "@reeve/sandbox/test/support/certificates";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { httpRequest } from "../src/tools/web/http-request.ts";
import type { WebServer } from "./support/web/web-bench.ts";
import { testEgress, webContext, webServer } from "./support/web/web-bench.ts";

const never = new AbortController().signal;
const canary = "canary-web-7f19c2";
const bomb = gzipSync(Buffer.alloc(20_000_000));

const pages: Readonly<
  Record<string, (request: IncomingMessage, response: ServerResponse) => unknown>
> = {
  "/echo": async (request, response) => {
    const body = await Array.fromAsync(request as AsyncIterable<Buffer>);
    const { method, headers } = request;
    response.setHeader("set-cookie", "session=1");
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ method, headers, body: Buffer.concat(body).toString() }));
  },
  "/deep": (_, response) =>
    response
      .writeHead(200, { "content-encoding": "gzip", "content-type": "application/json" })
      .end(gzipSync("[".repeat(900_000))),
  "/long": (_, response) =>
    response.writeHead(200, { "content-type": "text/plain" }).end("a".repeat(1_000_001)),
  "/missing": (_, response) => response.writeHead(404, { "content-type": "text/plain" }).end("no"),
  "/zipped": (_, response) =>
    response
      .writeHead(200, { "content-encoding": "gzip", "content-type": "text/plain" })
      .end(gzipSync("zipped")),
  "/empty": (_, response) => response.writeHead(204, { "content-encoding": "gzip" }).end(),
  "/cut": (_, response) =>
    response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("zipped").subarray(0, 12)),
  "/bomb": (_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bomb),
  "/large": (_, response) => {
    response.writeHead(200, { "content-length": 100_000_000 });
    const chunk = Buffer.alloc(1_000_000);
    const more = () => {
      while (response.write(chunk)) if (response.destroyed) return;
    };
    response.on("drain", more);
    more();
  },
  "/slow": (_, response) => void response.writeHead(200).write("a"),
  "/latin1": (_, response) =>
    response
      .writeHead(200, { "content-type": "text/plain; charset=iso-8859-1" })
      .end(Buffer.from("caf\u{e9}", "latin1")),
  "/wrong": (_, response) =>
    response
      .writeHead(200, { "content-type": "text/plain; charset=utf-99" })
      .end(Buffer.from([0x61, 0xff, 0x62])),
  "/image": (_, response) =>
    response.writeHead(200, { "content-type": "image/png" }).end(Buffer.from([1, 2, 3])),
  "/strange": (_, response) => response.writeHead(200, { "content-encoding": "rot13" }).end("a"),
};

function serve(request: IncomingMessage, response: ServerResponse): unknown {
  const url = new URL(request.url ?? "", "http://a.test");
  const to = url.searchParams.get("to");
  if (to !== null)
    return response
      .writeHead(Number(url.searchParams.get("status") ?? 302), { location: to })
      .end();
  return (pages[url.pathname] ?? pages["/missing"])?.(request, response);
}

describe("http_request", () => {
  let server: WebServer;
  const { egress, logged } = testEgress();

  beforeAll(async () => void (server = await webServer((...given) => void serve(...given))));
  afterAll(() => server[Symbol.asyncDispose]());

  const at = (path: string, host = "a.test") => `http://${host}:${server.port}${path}`;

  async function asked(args: JsonObject, timeoutMs?: number) {
    const network = [
      `a.test:${server.port}`,
      `b.test:${server.port}`,
      `private.test:${server.port}`,
    ];
    return await httpRequest(egress, timeoutMs).call(webContext(args, network), never);
  }

  const bodyAt = async (path: string) => (await asked({ url: at(path) })).structured?.["body"];
  const contentOf = async (args: JsonObject) => (await asked(args)).content;

  // Requirement: WEB-1
  test("sends the method, headers, and body, and returns the status, headers, and JSON", async () => {
    const { structured, isError } = await asked({
      method: "POST",
      url: at("/echo"),
      headers: { "X-Kind": "test" },
      body: { a: [1] },
    });
    expect(isError).toBe(false);
    expect(structured).toMatchObject({
      url: at("/echo"),
      status: 200,
      headers: { "content-type": "application/json" },
      body: {
        method: "POST",
        headers: { "x-kind": "test", "content-type": "application/json" },
        body: '{"a":[1]}',
      },
    });
    expect(structured).not.toHaveProperty(["headers", "set-cookie"]);
    expect(logged.at(-1)).toMatchObject({
      msg: "sandbox connection",
      host: "a.test",
      runId: "run_1",
    });
  });

  // Requirement: WEB-1
  test("returns an answer of any status, which is an error from 400 on", async () => {
    expect(await asked({ url: at("/missing") })).toMatchObject({
      isError: true,
      structured: { status: 404, body: "no" },
    });
  });

  // Requirement: WEB-1
  test("decodes compressed bodies and other charsets, also a charset that does not exist", async () => {
    expect(await bodyAt("/zipped")).toBe("zipped");
    expect(await bodyAt("/latin1")).toBe("café");
    expect(await bodyAt("/wrong")).toBe("a\u{fffd}b");
  });

  // Requirement: WEB-1
  test("expects no compressed body where there is none, and no part of one elsewhere", async () => {
    expect(await asked({ url: at("/zipped"), method: "HEAD" })).toMatchObject({
      isError: false,
      structured: { status: 200, headers: { "content-encoding": "gzip" } },
    });
    expect(await asked({ url: at("/empty"), method: "DELETE" })).toMatchObject({
      isError: false,
      structured: { status: 204 },
    });
    expect((await asked({ url: at("/cut") })).content).toMatch(/broke off/);
  });

  // Requirement: WEB-1
  test("returns a body that is no text as a file", async () => {
    const { attachments, structured } = await asked({ url: at("/image") });
    expect(attachments).toEqual([
      { label: "body", mediaType: "image/png", bytes: Buffer.from([1, 2, 3]) },
    ]);
    expect(structured).toMatchObject({ file: "body" });
  });

  // Requirement: WEB-2
  test("stops at a body that is too large, also once it is decompressed", async () => {
    const reason = /more than 10000000 bytes/;
    expect((await asked({ url: at("/bomb") })).content).toMatch(reason);
    expect((await asked({ url: at("/large") })).content).toMatch(reason);
    expect((await asked({ url: at("/strange") })).content).toMatch(/unsupported encoding rot13/);
  });

  // Requirement: WEB-2
  test("returns JSON that is too deep as text, and text that is too long as a file", async () => {
    expect(await bodyAt("/deep")).toMatch(/^\[{100000}/);
    const { structured, attachments } = await asked({ url: at("/long") });
    expect(structured).toMatchObject({ file: "body" });
    expect(attachments).toMatchObject([{ label: "body", mediaType: "text/plain" }]);
  });

  // Requirement: WEB-2
  test("ends a request whose answer takes too long", async () => {
    expect(await asked({ url: at("/slow") }, 50)).toEqual({
      content: "the request took longer than 0.05 s",
      isError: true,
    });
  });

  // Requirement: WEB-3
  test("reaches only hosts that the agent names, and never a private address", async () => {
    expect((await asked({ url: at("/echo", "c.test") })).content).toMatch(
      /c\.test:\d+ is not among the hosts that may be reached here/,
    );
    expect((await asked({ url: at("/echo", "private.test") })).content).toMatch(
      /private\.test is at 10\.0\.0\.7, which is blocked/,
    );
    const alone = httpRequest(egress).call(webContext({ url: at("/echo") }, []), never);
    await expect(alone).rejects.toThrow("the agent has no network");
    const more = httpRequest(egress).call(webContext({ url: at("/") }, ["c.other:80"]), never);
    await expect(more).rejects.toThrow("its operator permits only *.test:*");
  });

  // Requirement: WEB-3
  test("checks each redirect anew, and gives another origin no headers that may have secrets", async () => {
    const to = (url: string, status = 302) =>
      at(`/?status=${status}&to=${encodeURIComponent(url)}`);
    expect((await asked({ url: to(at("/echo", "private.test")) })).content).toMatch(
      /the redirect to http:\/\/private\.test:\d+ was not followed: .* is blocked/,
    );
    expect((await asked({ url: to("file:///etc/passwd") })).content).toMatch(/only http and https/);
    const headers = { authorization: "Bearer a", "x-key": "b", accept: "text/plain" };
    const same = await asked({ url: to("/echo"), headers });
    expect(same.structured).toMatchObject({ body: { headers } });
    const other = await asked({ url: to(at("/echo", "b.test")), headers });
    expect(other.structured).toMatchObject({ url: at("/echo", "b.test") });
    expect(other.content).toContain('"accept":"text/plain"');
    expect(other.content).not.toMatch(/Bearer a|x-key/);
  });

  // Requirement: WEB-3
  test("follows five redirects, and repeats the body only where the status says so", async () => {
    const through = (count: number, status: number): string =>
      count === 0
        ? at("/echo")
        : at(`/?status=${status}&to=${encodeURIComponent(through(count - 1, status))}`);
    const posted = async (count: number, status: number) =>
      await asked({ method: "POST", body: "a", url: through(count, status) });
    expect((await posted(5, 307)).structured).toMatchObject({
      body: { method: "POST", body: "a" },
    });
    expect((await posted(1, 303)).structured).toMatchObject({ body: { method: "GET", body: "" } });
    expect((await posted(6, 307)).content).toMatch(/more than 5 redirects/);
    const elsewhere = await asked({
      method: "POST",
      body: "a",
      url: at(`/?status=307&to=${encodeURIComponent(at("/echo", "b.test"))}`),
    });
    expect(elsewhere.content).toMatch(/a POST request is not repeated at another origin/);
  });

  // Requirement: WEB-1
  test("refuses what it cannot send, by the name of the argument", async () => {
    expect(await contentOf({ url: "a.test" })).toBe('url: "a.test" is not a valid URL');
    expect(await contentOf({ url: "http://a:b@a.test/" })).toMatch(/user name or password/);
    expect(await contentOf({ url: at("/"), headers: { Host: "b" } })).toBe(
      "headers: the header Host cannot be set",
    );
    expect(await contentOf({ url: at("/"), headers: { a: "b\r\nc: d" } })).toMatch(
      /invalid name or value/,
    );
    expect(await contentOf({ url: at("/"), body: "a" })).toBe("body: a GET request has none");
  });
});

const value = async () => ({ text: `Bearer ${canary}`, secrets: [canary] });
const redirect = (to: string, status = 302) => `/?status=${status}&to=${encodeURIComponent(to)}`;

describe("http_request to a host of a credential", () => {
  const resources = new AsyncDisposableStack();
  let port: number;
  let plainPort: number;
  let asked: (
    url: string,
    credentials: readonly string[],
    more?: JsonObject,
  ) => ReturnType<ReturnType<typeof httpRequest>["call"]>;

  beforeAll(async () => {
    const authority = await Authority.create();
    const secure = createServer(
      await authority.certify("a.test"),
      (...given) => void serve(...given),
    );
    secure.listen(0, "127.0.0.1");
    await once(secure, "listening");
    resources.defer(() => {
      secure.closeAllConnections();
      secure.close();
    });
    const plain = resources.use(await webServer((...given) => void serve(...given)));
    ({ port } = secure.address() as AddressInfo);
    plainPort = plain.port;
    const hosts = [parseNetworkEntry(`a.test:${port}`, "agent")].filter(
      (each) => each !== undefined,
    );
    const credential = {
      name: "tracker",
      hosts,
      header: "authorization",
      tenants: undefined,
      value,
    };
    const { egress } = testEgress({
      credentials: [{ ...credential, ca: String(authority.ca) }],
      ca: String(authority.ca),
    });
    asked = async (url, names, more = {}) => {
      const network = [`a.test:${port}`, `b.test:${port}`, `b.test:${plainPort}`];
      return await httpRequest(egress).call(webContext({ url, ...more }, network, names), never);
    };
  });
  afterAll(() => resources.disposeAsync());

  // Requirement: WEB-4
  test("has the header of the credential, which no result shows, and verifies other hosts itself", async () => {
    const used = await asked(`https://a.test:${port}/echo`, ["tracker"]);
    expect(used.structured).toMatchObject({
      status: 200,
      body: { headers: { authorization: "Bearer [redacted]", host: `a.test:${port}` } },
    });
    expect(used.content).not.toContain(canary);
    const plain = await asked(`https://a.test:${port}/echo`, []);
    expect(plain.structured).toMatchObject({ status: 200 });
    expect(plain.content).not.toContain("Bearer");
    const other = await asked(`https://b.test:${port}/echo`, []);
    expect(other.content).toMatch(/no TLS connection to b\.test/);
  });

  // Requirement: WEB-3, WEB-4
  test("has it after redirects to the same origin, which stay at https", async () => {
    const there = `https://a.test:${port}/echo`;
    for (const target of ["/echo", there]) {
      const { structured } = await asked(`https://a.test:${port}${redirect(target)}`, ["tracker"]);
      expect(structured).toMatchObject({
        url: there,
        body: { headers: { authorization: "Bearer [redacted]" } },
      });
    }
    const down = await asked(
      `https://a.test:${port}${redirect(`http://b.test:${plainPort}/echo`)}`,
      ["tracker"],
    );
    expect(down.content).toMatch(
      /the redirect to http:\/\/b\.test:\d+ was not followed: it leaves/,
    );
  });

  // Requirement: WEB-3, WEB-4
  test("has none if another server redirects there, and there is no request with a body", async () => {
    const there = `https://a.test:${port}/echo`;
    const from = (status: number) => `http://b.test:${plainPort}${redirect(there, status)}`;
    const got = await asked(from(302), ["tracker"]);
    expect(got.structured).toMatchObject({ url: there, status: 200 });
    expect(got.content).not.toContain("Bearer");
    const posted = await asked(from(307), ["tracker"], { method: "POST", body: "a" });
    expect(posted.content).toMatch(/a POST request is not repeated at another origin/);
    const seen = await asked(from(301), ["tracker"], { method: "POST", body: "a" });
    expect(seen.structured).toMatchObject({ body: { method: "GET", body: "" } });
  });
});

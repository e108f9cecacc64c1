import { once } from "node:events";
import { createServer } from "node:https";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { parseNetworkEntry } from "@reeve/agent/spec/network-entry";
import { HostEgress } from "@reeve/sandbox/network/host-egress";
import { Lookups } from "@reeve/sandbox/network/lookups";
import { Authority } from "@reeve/sandbox/test/support/certificates";
import { recordingLog } from "@reeve/sandbox/test/support/recording-log";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DocumentAddress } from "../src/fetch/document-fetcher.ts";
import { DocumentFetcher } from "../src/fetch/document-fetcher.ts";

const never = new AbortController().signal;
const page = "<p>Thirty days of vacation.</p>";
let requests: string[] = [];

const pages: Readonly<Record<string, readonly [string, string | Buffer]>> = {
  "/page": ["text/html; charset=utf-8", page],
  "/latin1": ["text/plain; charset=iso-8859-1", Buffer.from("caf\u{e9}", "latin1")],
  "/wrong": ["text/html", "%PDF-1.4 and so on"],
  "/word": ["application/octet-stream", "PK\u0003\u0004......word/document.xml"],
  "/notes.md": ["application/octet-stream", "# Notes"],
};

const serve: RequestListener = (request, response) => {
  const path = request.url ?? "";
  requests.push(path);
  const [type, body] = pages[path] ?? [];
  const to = URL.parse(path, "https://a.test")?.searchParams.get("to");
  if (typeof to === "string") return void response.writeHead(302, { location: to }).end();
  if (path === "/slow") return;
  if (path === "/large") return void response.writeHead(200).end(Buffer.alloc(1_100_000, 97));
  if (path === "/slow-body") return void response.writeHead(200, { etag: "x" }).write("a");
  if (path === "/broken") {
    response.writeHead(200, { "content-length": "10" }).write("a");
    return void setImmediate(() => response.destroy());
  }
  if (path.startsWith("/loop")) return void response.writeHead(302, { location: path }).end();
  if (path === "/headers")
    return void response.writeHead(200, { "x-long": "a".repeat(40_000) }).end();
  if (path === "/garbled") {
    return void response.writeHead(200, { "content-encoding": "gzip" }).end("no gzip");
  }
  if (path === "/bomb") {
    const headers = { "content-type": "text/plain", "content-encoding": "gzip" };
    return void response.writeHead(200, headers).end(gzipSync(Buffer.alloc(34_000_000)));
  }
  if (type === undefined) return void response.writeHead(404).end();
  const headers = { etag: '"1"', "last-modified": "Fri, 01 Jan 2027 00:00:00 GMT" };
  if (request.headers["if-none-match"] === '"1"') return void response.writeHead(304).end();
  response.writeHead(200, { "content-type": type, ...headers }).end(body);
};

const addressOf = (at: string): DocumentAddress => ({ tenant: "acme", url: at, mediaType: "" });

describe("a document at a URL", () => {
  const resources = new AsyncDisposableStack();
  let port: number;
  let egress: HostEgress;
  let fetcher: DocumentFetcher;

  const url = (path: string, host = "a.test") => `https://${host}:${port}${path}`;
  const fetched = async (address: DocumentAddress, from = fetcher) =>
    await from.fetch(address, async (found) => found, never);
  const problemOf = async (at: string, from = fetcher) =>
    await fetched(addressOf(at), from).then(
      () => "none",
      ({ message }: Error) => message,
    );

  beforeAll(async () => {
    const authority = await Authority.create();
    const server = createServer(await authority.certify("a.test"), serve);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    resources.defer(() => {
      server.closeAllConnections();
      server.close();
    });
    ({ port } = server.address() as AddressInfo);
    const allow = ["a.test:*", "private.test:*"].flatMap((text) => {
      const entry = parseNetworkEntry(text, "operator");
      return entry === undefined ? [] : [entry];
    });
    egress = new HostEgress({
      policy: { allow, ranges: ["127.0.0.1"], maxBytes: 1_000_000_000 },
      lookups: new Lookups(async (host) => [host === "private.test" ? "10.0.0.7" : "127.0.0.1"]),
      log: recordingLog().log,
      ca: String(authority.ca),
    });
    fetcher = new DocumentFetcher({ egress });
  });
  afterAll(() => resources.disposeAsync());

  // Requirement: KNOW-8
  test("is fetched with what its server says of it, and is not sent again while it is the same", async () => {
    const address = addressOf(url("/page#part"));
    const first = await fetched(address);
    expect(first).toMatchObject({
      kind: "fetched",
      mediaType: "text/html",
      fetched: {
        sizeBytes: page.length,
        origin: { url: url("/page"), etag: '"1"', lastModified: "Fri, 01 Jan 2027 00:00:00 GMT" },
      },
    });
    const known = first.kind === "fetched" ? first.fetched.origin : undefined;
    expect(await fetched({ ...address, known })).toEqual({ kind: "unchanged" });
  });

  // Requirement: KNOW-8
  test("is what its first bytes say, then what its server says, then what its ending says", async () => {
    for (const [path, type, text] of [
      ["/latin1", "text/plain", "café"],
      ["/wrong", "application/pdf", "%PDF-1.4 and so on"],
      ["/word", /wordprocessingml/, "PK\u0003\u0004......word/document.xml"],
      ["/notes.md", "text/markdown", "# Notes"],
    ] as const) {
      const found = await fetched(addressOf(url(path)));
      if (found.kind !== "fetched") throw new Error(`${path} was not fetched`);
      expect(found.mediaType).toMatch(type);
      expect(Buffer.from(found.bytes).toString()).toBe(text);
    }
    const named = { ...addressOf(url("/page")), mediaType: "text/plain" };
    expect(await fetched(named)).toMatchObject({ mediaType: "text/plain" });
  });

  // Requirement: KNOW-8
  test("is fetched only from permitted hosts and addresses, with each of its redirects", async () => {
    const to = (target: string) => url(`/?to=${encodeURIComponent(target)}`);
    expect(await fetched(addressOf(to("/page")))).toMatchObject({ kind: "fetched" });
    expect(await problemOf(url("/page", "b.test"))).toMatch(
      /was not fetched: b\.test:\d+ is not among the hosts that may be reached here: a\.test/,
    );
    expect(await problemOf(to(url("/page", "b.test")))).toMatch(/b\.test:\d+ is not among/);
    expect(await problemOf(to(url("/page", "private.test")))).toMatch(
      /10\.0\.0\.7, which is blocked here/,
    );
    expect(await problemOf(to("http://a.test/"))).toMatch(/it leaves https/);
    requests = [];
    expect(await problemOf(url("/page"), new DocumentFetcher({ egress: undefined }))).toMatch(
      /names hosts in REEVE_NETWORK_ALLOW of the gateway/,
    );
    expect(requests).toEqual([]);
  });

  // Requirement: KNOW-8
  test("is refused by name when it is no document, too large, or too slow", async () => {
    expect(await problemOf(url("/missing"))).toMatch(/a\.test:\d+ answers 404/);
    expect(await problemOf(url("/missing?key=secret"))).not.toContain("secret");
    expect(await problemOf(url("/bomb"))).toMatch(/has more than 33554432 bytes/);
    const hasty = new DocumentFetcher({ egress, maxDurationMs: 50 });
    expect(await problemOf(url("/slow"), hasty)).toMatch(/it took longer than 0.05 seconds/);
    expect(
      await problemOf(url("/slow-body"), new DocumentFetcher({ egress, maxDurationMs: 500 })),
    ).toMatch(/it took longer than 0.5 seconds/);
    expect(await problemOf(url("/broken"))).toMatch(/the response broke off: aborted/);
    expect(await problemOf(url("/garbled"))).toMatch(/the response broke off: incorrect header/);
    const circle = await problemOf(url("/loop?key=secret"));
    expect(circle).toMatch(/has more than 5 redirects/);
    expect(circle).not.toContain("secret");
    expect(await problemOf(url("/headers"))).toMatch(/Header overflow/);
    for (const at of ["http://a.test/page", "https://ann:secret@a.test/page", "page"]) {
      expect(await problemOf(at)).toMatch(/^url is no URL of https/);
    }
  });

  // Requirement: KNOW-8
  test("is fetched beside servers that do not answer, also those of its tenant", async () => {
    const end = new AbortController();
    const slow = ["acme", "globex", "initech"].map((tenant) =>
      fetcher.fetch({ ...addressOf(url("/slow")), tenant }, async (found) => found, end.signal),
    );
    const left = Promise.allSettled(slow);
    expect(await fetched({ ...addressOf(url("/page")), tenant: "hooli" })).toMatchObject({
      kind: "fetched",
    });
    expect(await fetched(addressOf(url("/page")))).toMatchObject({ kind: "fetched" });
    end.abort(new Error("enough"));
    expect((await left).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  });

  // Requirement: KNOW-8
  test("waits, if it is large, until large ones of others are stored; a small one does not", async () => {
    const stored = Promise.withResolvers<void>();
    const sizeOf = async (tenant: string, path: string, until = Promise.resolve()) =>
      await fetcher.fetch(
        { ...addressOf(url(path)), tenant },
        async (found) => {
          begun.add(tenant);
          await until;
          return found.kind === "fetched" && found.bytes.length;
        },
        never,
      );
    const begun = new Set<string>();
    const two = ["acme", "globex"].map((tenant) => sizeOf(tenant, "/large", stored.promise));
    await expect.poll(() => begun.size, { interval: 1 }).toBe(2);
    requests = [];
    const third = sizeOf("initech", "/large");
    await expect.poll(() => requests.length, { interval: 1 }).toBe(1);
    expect(await sizeOf("hooli", "/page")).toBe(page.length);
    expect(begun.has("initech")).toBe(false);
    stored.resolve();
    expect(await Promise.all([...two, third])).toEqual([1_100_000, 1_100_000, 1_100_000]);
    expect(requests.filter((path) => path === "/large")).toHaveLength(2);
  });

  test("is no longer fetched when its caller leaves", async () => {
    const impatient = new AbortController();
    const waiting = fetcher.fetch(
      addressOf(url("/slow")),
      async (found) => found,
      impatient.signal,
    );
    impatient.abort(new Error("left"));
    await expect(waiting).rejects.toThrow("left");
  });
});

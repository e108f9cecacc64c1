import { once } from "node:events";
import type { Http2SecureServer } from "node:http2";
import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { createServer } from "node:http";
import process from "node:process";
import { Authority } from "@reeve/sandbox/test/support/certificates";
import { afterEach, expect, test, vi } from "vitest";
import { keepAliveFetch } from "../src/wire/keep-alive-fetch.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

function portOf(server: { address(): AddressInfo | string | null }): number {
  // A TCP server has an address and a port.
  return (server.address() as AddressInfo).port;
}

async function startSecureServer(): Promise<Http2SecureServer> {
  const authority = await Authority.create();
  const { cert, key } = await authority.certify("localhost");
  const server = createSecureServer({ cert, key, allowHTTP1: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

test("concurrent answers use connections of their own, also from a server that offers HTTP/2", async () => {
  const server = await startSecureServer();
  const versions: string[] = [];
  const ports = new Set<number | undefined>();
  const answer: (() => void)[] = [];
  server.on("request", (request, response) => {
    versions.push(request.httpVersion);
    ports.add(request.socket.remotePort);
    answer.push(() => response.end("ok"));
    // Answered together, so that no connection is free for the next request.
    if (answer.length === 3) for (const end of answer) end();
  });
  vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
  vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  const fetch = keepAliveFetch(10_000);
  const url = `https://localhost:${portOf(server)}/`;
  const call = async () => await (await fetch(url, { method: "POST", body: "{}" })).text();
  expect(await Promise.all([call(), call(), call()])).toEqual(["ok", "ok", "ok"]);
  expect(versions).toEqual(["1.1", "1.1", "1.1"]);
  expect(ports.size).toBe(3);
  server.close();
});

test("an error response that falls silent fails with ETIMEDOUT", async () => {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(500);
    response.write("{");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const fetch = keepAliveFetch(200);
  const response = await fetch(`http://127.0.0.1:${portOf(server)}/`, {
    method: "POST",
    body: "{}",
  });
  await expect(response.text()).rejects.toMatchObject({ code: "ETIMEDOUT" });
  server.closeAllConnections();
  server.close();
});

/** Starts a server whose answers have a first part, and never an end. */
async function startStallingServer(first: string) {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200);
    response.flushHeaders();
    if (first !== "") response.write(first);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${portOf(server)}/`,
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function readAll({ body }: Response, into: string[]): Promise<void> {
  for await (const bytes of body ?? []) into.push(Buffer.from(bytes).toString());
}

test("an answer that falls silent in its middle fails sooner than one that has not begun", async () => {
  using server = await startStallingServer("half");
  const response = await keepAliveFetch(60_000, 50)(server.url, { method: "POST", body: "{}" });
  const parts: string[] = [];
  await expect(readAll(response, parts)).rejects.toMatchObject({
    code: "ETIMEDOUT",
    message: "no byte came for 0.05 seconds",
  });
  expect(parts).toEqual(["half"]);
});

test("a model may think before the first byte of its answer for longer than it may fall silent later", async () => {
  using server = await startStallingServer("");
  const response = await keepAliveFetch(500, 1)(server.url, { method: "POST", body: "{}" });
  await expect(readAll(response, [])).rejects.toMatchObject({
    message: "no byte came for 0.5 seconds",
  });
});

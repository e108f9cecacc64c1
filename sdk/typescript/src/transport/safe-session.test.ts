import { once } from "node:events";
import type { ClientHttp2Session, ServerHttp2Session } from "node:http2";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { SafeSessionManager } from "./safe-session.ts";

async function connected() {
  const resources = new AsyncDisposableStack();
  const server = createServer((_, response) => response.end());
  const sessions: ServerHttp2Session[] = [];
  server.on("session", (session) => sessions.push(session));
  await once(server.listen(0, "127.0.0.1"), "listening");
  resources.defer(() => void server.close());
  resources.defer(() => sessions.forEach((session) => session.destroy()));
  // The server has a port.
  const { port } = server.address() as AddressInfo;
  const manager = resources.adopt(new SafeSessionManager(`http://127.0.0.1:${port}`), (opened) =>
    opened.abort(),
  );
  return { manager, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

async function sessionOf(manager: SafeSessionManager): Promise<ClientHttp2Session> {
  const stream = await manager.request("GET", "/", {}, {});
  stream.on("error", () => undefined);
  // A client opened it.
  return stream.session as ClientHttp2Session;
}

test("a session that ends with an error while the next request opens another one throws nothing", async () => {
  await using opened = await connected();
  const session = await sessionOf(opened.manager);
  const closed = Promise.withResolvers<void>();
  session.once("close", closed.resolve);
  session.destroy(new Error("no answer to a ping"));
  const next = await sessionOf(opened.manager);
  await closed.promise;
  expect(next === session).toBe(false);
});

test("a ping of a session that was just destroyed throws nothing", async () => {
  await using opened = await connected();
  const session = await sessionOf(opened.manager);
  session.destroy();
  expect(session.ping(() => undefined)).toBe(false);
});

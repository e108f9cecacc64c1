import { once } from "node:events";
import type { ServerHttp2Session } from "node:http2";
import { connect, createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { pingIntervalMs, pingSession } from "./ping-session.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Opens an HTTP/2 connection, and returns the session of its server. */
async function connection() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = connect(`http://127.0.0.1:${port}`);
  const [session] = (await once(server, "session")) as [ServerHttp2Session];
  return {
    session,
    client,
    [Symbol.asyncDispose]: async () => {
      client.destroy();
      session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test("a connection is pinged", async () => {
  await using connected = await connection();
  const pinged = once(connected.client, "ping");
  pingSession(connected.session);
  vi.advanceTimersByTime(pingIntervalMs);
  await expect(pinged).resolves.toHaveLength(1);
});

test("a destroyed connection that has not emitted close is not pinged", async () => {
  await using connected = await connection();
  const { session } = connected;
  pingSession(session);
  const closed = once(session, "close");
  session.destroy();
  expect(() => vi.advanceTimersByTime(pingIntervalMs)).not.toThrow();
  await closed;
  expect(vi.getTimerCount()).toBe(0);
});

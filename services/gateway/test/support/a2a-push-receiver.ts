import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A push notification, as its receiver got it. */
export interface Posted {
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: unknown;
}

/** Starts a receiver on this host for one test. It answers with `statuses`, one after the other, and then with 200. */
export async function startReceiver(statuses: number[] = [], headers = {}) {
  const posted: Posted[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      let body = "";
      for await (const piece of request) body += String(piece);
      posted.push({ headers: request.headers, body: JSON.parse(body) as unknown });
      response.writeHead(statuses.shift() ?? 200, headers).end();
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  // A TCP listener has an address and a port.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hooks`, posted };
}

/** Returns the states of the tasks in the notifications. */
export const statesIn = (posted: readonly Posted[]) =>
  posted.map(({ body }) => (body as { statusUpdate: { status: unknown } }).statusUpdate.status);

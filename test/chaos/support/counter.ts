import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A service outside all sandboxes that counts the requests for each path. */
export interface Counter extends AsyncDisposable {
  readonly url: string;
  /** The number of POST requests for each path. */
  readonly counts: ReadonlyMap<string, number>;
}

export async function startCounter(): Promise<Counter> {
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = (request.url ?? "/").slice(1);
    counts.set(path, (counts.get(path) ?? 0) + 1);
    response.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server that listens on TCP has such an address.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    counts,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

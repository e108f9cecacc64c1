import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import type { ServerInfo } from "@nats-io/transport-node";

/** Starts a server that introduces itself as NATS does. */
export async function introducing(version: string) {
  const server = createServer((socket) => {
    socket.on("error", () => undefined).end(`INFO {"server_id":"S","version":"${version}"}\r\n`);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => void (await once(server.close(), "close")),
  };
}

/** A connection to a server of a version, whose cluster has others. */
export const connectedTo = (version: string, ...others: readonly string[]) => ({
  info: { version, connect_urls: [...others] } as ServerInfo,
  getServer: () => "10.0.0.1:4222",
});

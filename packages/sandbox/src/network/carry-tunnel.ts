import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Connection } from "./call-traffic.ts";

interface Tunnel {
  readonly client: Duplex;
  /** What the client has said already. */
  readonly head: Buffer;
  readonly socket: Socket;
}

/**
 * Carries a tunnel both ways until both ends, which the connection holds, are closed. What one end has said reaches the other
 * before it closes.
 */
export function pipeTunnel(connection: Connection, { client, head, socket }: Tunnel): void {
  if (client.destroyed) return connection.end("closed");
  let left = 2;
  for (const each of [client, socket]) {
    each.once("close", () => {
      left--;
      if (left === 0) connection.end("closed");
    });
  }
  client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
  connection.count("sent", head.length);
  socket.write(head);
  client.on("data", ({ length }: Buffer) => connection.count("sent", length));
  socket.on("data", ({ length }) => connection.count("received", length));
  client.pipe(socket);
  socket.pipe(client);
}

import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Connection } from "./call-traffic.ts";

interface Tunnel {
  readonly client: Duplex;
  /** Bytes that the client sent after its request. */
  readonly head: Buffer;
  readonly socket: Socket;
}

/**
 * Pipes a tunnel in both directions until both sockets are closed. When one socket ends, the other gets all its bytes before
 * it closes as well. Call `connection.attach` with both sockets first.
 */
export function pipeTunnel(connection: Connection, { client, head, socket }: Tunnel): void {
  if (client.destroyed) return connection.end("closed");
  let open = 2;
  for (const each of [client, socket]) {
    each.once("close", () => {
      open--;
      if (open === 0) connection.end("closed");
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

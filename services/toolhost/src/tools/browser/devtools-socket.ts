import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { createServer } from "node:http";
import { PassThrough } from "node:stream";
import type { WebSocket } from "ws";
import { WebSocketServer } from "ws";
import { DevtoolsMessages } from "./devtools-messages.ts";

/** The DevTools protocol of a browser, as the library speaks it: over a WebSocket, which is on a Unix socket of this process. */
export interface DevtoolsSocket extends AsyncDisposable {
  /** The address for the library. */
  readonly url: string;
  /** What the browser reads. */
  readonly commands: AsyncIterable<Uint8Array>;
  /** Passes on what the browser has written. Rejects if it is too much, or if the library is gone. */
  receive(bytes: Uint8Array): Promise<void>;
}

/** Listens on a socket in a folder that only this user can reach, for one client that knows its path. */
export async function devtoolsSocket(folder: string): Promise<DevtoolsSocket> {
  await using opening = new AsyncDisposableStack();
  const handle = await open(folder, "r");
  opening.defer(() => handle.close());
  const path = `/${randomBytes(16).toString("hex")}`;
  const server = createServer();
  const sockets = new WebSocketServer({ server, path, perMessageDeflate: false });
  opening.defer(async () => {
    for (const each of sockets.clients) each.terminate();
    server.close();
    await once(server, "close");
  });
  const commands = new PassThrough();
  const connected = Promise.withResolvers<WebSocket>();
  // A browser may write nothing that anybody waits for.
  connected.promise.catch(() => undefined);
  sockets.once("connection", (socket) => {
    sockets.on("connection", (other) => other.terminate());
    socket.on("error", () => undefined);
    socket.on("close", () => commands.end());
    socket.on("message", (message) => {
      // The default type of its messages is that of Node.
      if (commands.write(`${(message as Buffer).toString()}\0`)) return;
      socket.pause();
      commands.once("drain", () => socket.resume());
    });
    connected.resolve(socket);
  });
  // The path of a data folder may exceed the maximum length of a socket path.
  const file = `/proc/self/fd/${handle.fd}/socket`;
  server.listen(file);
  await once(server, "listening");
  const messages = new DevtoolsMessages();
  const resources = opening.move();
  return {
    url: `ws+unix://${file}:${path}`,
    commands,
    receive: async (bytes) => {
      const socket = await connected.promise;
      for (const message of messages.add(bytes)) await sent(socket, message);
    },
    [Symbol.asyncDispose]: async () => {
      commands.destroy();
      connected.reject(new Error("the library is gone"));
      await resources.disposeAsync();
    },
  };
}

async function sent(socket: WebSocket, message: Buffer): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.send(message.toString(), (error) => (error ? reject(error) : resolve()));
  await promise;
}

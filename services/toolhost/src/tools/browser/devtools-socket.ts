import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import type { WebSocket } from "ws";
import { WebSocketServer } from "ws";

/** The largest message that the library gets: a larger answer ends the browser. */
const maxAnswerBytes = 32 * 2 ** 20;
/** Events are what a page makes happen at will. The library keeps some, so larger ones are dropped. */
const maxEventBytes = 2 ** 18;
const eventStart = Buffer.from('{"method":');

/** The DevTools protocol of a browser, as the library speaks it: over a WebSocket, which is on a Unix socket of this process. */
export interface DevtoolsSocket extends AsyncDisposable {
  /** The address for the library. */
  readonly url: string;
  /** What the browser reads. */
  readonly commands: AsyncIterable<Uint8Array>;
  /** Passes on what the browser has written. Rejects if it is too much, or if the library is gone. */
  receive(bytes: Uint8Array): Promise<void>;
}

/** Listens on a socket that only this user can reach, for one client that knows its path. */
export async function devtoolsSocket(): Promise<DevtoolsSocket> {
  await using opening = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "reeve-browser-"));
  opening.defer(() => rm(folder, { recursive: true, force: true }));
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
      if (commands.write(`${String(message)}\0`)) return;
      socket.pause();
      commands.once("drain", () => socket.resume());
    });
    connected.resolve(socket);
  });
  const file = join(folder, "devtools");
  server.listen(file);
  await once(server, "listening");
  const messages = new Messages();
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

/** Cuts the output of a browser into messages, each of which ends with a zero byte. */
class Messages {
  #parts: Uint8Array[] = [];
  #size = 0;

  /** Returns the messages that are complete now, without events that are too large. */
  add(bytes: Uint8Array): readonly Buffer[] {
    const complete: Buffer[] = [];
    let start = 0;
    for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, start)) {
      const message = Buffer.concat([...this.#parts, bytes.subarray(start, end)]);
      this.#parts = [];
      this.#size = 0;
      start = end + 1;
      const isEvent = message.subarray(0, eventStart.length).equals(eventStart);
      if (!isEvent || message.length <= maxEventBytes) complete.push(message);
    }
    const rest = bytes.subarray(start);
    this.#parts.push(rest);
    this.#size += rest.length;
    if (this.#size > maxAnswerBytes) throw new Error("the browser has sent too much at once");
    return complete;
  }
}

async function sent(socket: WebSocket, message: Buffer): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.send(message.toString(), (error) => (error ? reject(error) : resolve()));
  await promise;
}

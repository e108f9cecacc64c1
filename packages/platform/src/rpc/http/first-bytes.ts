import type { Socket } from "node:net";

/** The timeout for the first bytes of a connection, for its TLS handshake, and for the headers of its request. */
export const firstBytesMs = 10_000;

/**
 * Calls `use` with the first bytes of a connection as soon as they differ from those of `text`, or are all of them. The bytes
 * stay in the socket, which is paused. Destroys a socket that is silent.
 */
export function onFirstBytes(socket: Socket, text: string, use: (start: string) => void): void {
  socket.setTimeout(firstBytesMs, () => socket.destroy());
  let first = Buffer.alloc(0);
  socket.on("data", function read(bytes: Buffer) {
    first = Buffer.concat([first, bytes]);
    const start = first.toString("latin1", 0, text.length);
    // "P" may begin "PRI" or "POST".
    if (start.length < text.length && text.startsWith(start)) return;
    socket.off("data", read);
    socket.setTimeout(0);
    socket.removeAllListeners("timeout");
    socket.pause();
    socket.unshift(first);
    use(start);
  });
  // A socket that was paused for its first bytes before stays paused despite the listener.
  socket.resume();
}

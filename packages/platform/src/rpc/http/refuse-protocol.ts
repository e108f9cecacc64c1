import { constants } from "node:http2";
import type { Socket } from "node:net";

/** The first bytes of a client with prior knowledge of HTTP/2. */
export const http2Preface = "PRI";

/** The time that a refused client has to close its connection. */
const lingerMs = 1_000;

const frameTypes = { settings: 4, goAway: 7 } as const;

/** Says in HTTP/2 or HTTP/1.1, as `start` of the connection asks for, why a connection is refused, and closes it. */
export function refuseProtocol(socket: Socket, start: string, reason: string): void {
  socket.setTimeout(lingerMs, () => socket.destroy());
  socket.end(start === http2Preface ? goAway(reason) : badRequest(reason));
  // A socket with unread bytes is reset when it closes, and the client would lose the reason.
  socket.resume();
}

function badRequest(reason: string): string {
  const body = `${reason}\n`;
  return [
    "HTTP/1.1 400 Bad Request",
    "content-type: text/plain; charset=utf-8",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
    "",
    body,
  ].join("\r\n");
}

function goAway(reason: string): Buffer {
  const content = Buffer.concat([Buffer.alloc(8), Buffer.from(reason)]);
  content.writeUInt32BE(constants.NGHTTP2_INADEQUATE_SECURITY, 4);
  return Buffer.concat([
    frame(frameTypes.settings, Buffer.alloc(0)),
    frame(frameTypes.goAway, content),
  ]);
}

/** Returns a frame of the connection, without flags. */
function frame(type: number, content: Buffer): Buffer {
  const header = Buffer.alloc(9);
  header.writeUIntBE(content.length, 0, 3);
  header.writeUInt8(type, 3);
  return Buffer.concat([header, content]);
}

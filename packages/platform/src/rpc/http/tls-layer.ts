import type { Socket } from "node:net";
import { constants } from "node:crypto";
import type { Server, TLSSocket } from "node:tls";
import { createServer } from "node:tls";
import type { Logger } from "../../telemetry/logger.ts";
import type { ServerTls } from "../../tls/server-tls.ts";
import { setPeerCertificate } from "../../tls/peer-certificate.ts";
import { firstBytesMs, onFirstBytes } from "./first-bytes.ts";
import { http2Preface, refuseProtocol } from "./refuse-protocol.ts";

/** The type of the first record of a TLS connection. */
const handshakeRecord = "\x16";

/**
 * Returns a function that performs the TLS handshake of a connection, and then passes it to `use`. New certificates apply to
 * later handshakes. A client without TLS is told so, in its protocol, and disconnected.
 */
export function tlsLayer(
  tls: ServerTls,
  use: (socket: TLSSocket) => void,
  log: Logger,
): (socket: Socket) => void {
  const accept = (): Server => handshakes(tls, use, log);
  let server = accept();
  // A new server: handshakes that have begun end with the authorities by which they verify.
  tls.onChange(() => (server = accept()));
  return (socket) =>
    onFirstBytes(socket, handshakeRecord, (start) => {
      if (start === handshakeRecord) return void server.emit("connection", socket);
      onFirstBytes(socket, http2Preface, (text) =>
        refuseProtocol(socket, text, "this port uses TLS; use https:// instead of http://"),
      );
    });
}

/** Returns a server that performs handshakes with the certificate and the authorities of this moment. */
function handshakes(tls: ServerTls, use: (socket: TLSSocket) => void, log: Logger): Server {
  const { certified, clientAuthorities: authorities } = tls;
  const server = createServer({
    cert: certified.cert,
    key: certified.key,
    minVersion: "TLSv1.2",
    ca: authorities,
    // A resumed session would keep a certificate without its chain.
    ...(authorities && { secureOptions: constants.SSL_OP_NO_TICKET }),
    ALPNProtocols: ["h2", "http/1.1"],
    handshakeTimeout: firstBytesMs,
    requestCert: authorities !== undefined,
    // Requests are refused instead, with the reason. Probes have no certificate.
    rejectUnauthorized: false,
  });
  server.on("secureConnection", (socket) => {
    if (authorities !== undefined) setPeerCertificate(socket, authorities, tls);
    socket.on("error", () => socket.destroy());
    onFirstBytes(socket, http2Preface, (start) => {
      const isHttp2 = start === http2Preface;
      if (isHttp2 && socket.alpnProtocol !== "h2") {
        return refuseProtocol(socket, start, "HTTP/2 over TLS needs ALPN with the protocol h2");
      }
      use(socket);
    });
  });
  server.on("tlsClientError", (error, socket) => {
    log.debug({ err: error, address: socket.remoteAddress }, "a TLS handshake ended early");
    socket.destroy();
  });
  return server;
}

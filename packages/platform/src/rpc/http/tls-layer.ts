import type { Socket } from "node:net";
import { constants } from "node:crypto";
import type { SecureContextOptions, TLSSocket } from "node:tls";
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
  const options = (): SecureContextOptions => ({
    cert: tls.certified.cert,
    key: tls.certified.key,
    minVersion: "TLSv1.2",
    ca: tls.clientAuthorities,
    // A resumed session would keep a certificate without its chain.
    ...(tls.clientAuthorities && { secureOptions: constants.SSL_OP_NO_TICKET }),
  });
  const server = createServer({
    ...options(),
    ALPNProtocols: ["h2", "http/1.1"],
    handshakeTimeout: firstBytesMs,
    requestCert: tls.clientAuthorities !== undefined,
    // Requests are refused instead, with the reason. Probes have no certificate.
    rejectUnauthorized: false,
  });
  tls.onChange(() => server.setSecureContext(options()));
  server.on("secureConnection", (socket) => {
    setPeerCertificate(socket, tls);
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
  return (socket) =>
    onFirstBytes(socket, handshakeRecord, (start) => {
      if (start === handshakeRecord) return void server.emit("connection", socket);
      onFirstBytes(socket, http2Preface, (text) =>
        refuseProtocol(socket, text, "this port uses TLS; use https:// instead of http://"),
      );
    });
}

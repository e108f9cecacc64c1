import { once } from "node:events";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { connect } from "node:tls";
import type { HostConnection } from "./connect-to-host.ts";

/** How long a handshake may take. */
const handshakeMs = 10_000;

interface SecureOptions {
  readonly host: string;
  /** The authorities of the certificate, in PEM. Undefined: those that this process trusts. */
  readonly ca: string | undefined;
}

/** Starts TLS on a connection. The certificate must be valid for the host; otherwise the connection is closed. */
export async function secureSocket(
  socket: Duplex,
  { host, ca }: SecureOptions,
  signal: AbortSignal,
): Promise<HostConnection> {
  const secured = connect({
    socket,
    host,
    // An address is no name of a server; its certificate is verified by `host`.
    servername: isIP(host) > 0 ? "" : host,
    ALPNProtocols: ["http/1.1"],
    minVersion: "TLSv1.2",
    rejectUnauthorized: true,
    ...(ca !== undefined && { ca }),
  });
  try {
    await once(secured, "secureConnect", {
      signal: AbortSignal.any([signal, AbortSignal.timeout(handshakeMs)]),
    });
    return { kind: "open", socket: secured };
  } catch (error) {
    secured.on("error", () => undefined).destroy();
    const problem = error instanceof Error ? error.message : String(error);
    return { kind: "failed", reason: `no TLS connection to ${host}: ${problem}` };
  }
}

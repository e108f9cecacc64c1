import { X509Certificate } from "node:crypto";
import type { Socket } from "node:net";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import { isSignedBy } from "./is-signed-by.ts";
import { splitCertificates } from "./parse-certificates.ts";
import { namesOf } from "./certificate-names.ts";
import type { ServerTls } from "./server-tls.ts";

/** The certificate that a client presented in its TLS handshake. */
export interface PeerCertificate {
  /** The first 12 hexadecimal digits of its SHA-256. */
  readonly id: string;
  /** Its names: its URIs, and `CN=` with its common name if it has exactly one. */
  readonly names: readonly string[];
  /** Why it was refused in the handshake, as a code of OpenSSL such as CERT_HAS_EXPIRED. Undefined: it was verified. */
  readonly problem: string | undefined;
  /** The time at which the first certificate of its chain expires, in milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Whether the authorities of this moment vouch for it as well. */
  isTrusted(): boolean;
}

const idLength = 12;

const peerKey = Symbol("peer certificate");

/** A socket of a port with TLS. Sockets of HTTP/2 requests are proxies, which forward this property. */
interface SocketWithPeer {
  [peerKey]?: PeerCertificate;
}

/**
 * Keeps the certificate of the client with the socket of its connection, after the handshake. `authorities` are those by which
 * the handshake verified it; those of `tls` may be newer.
 */
export function setPeerCertificate(
  socket: TLSSocket,
  authorities: Buffer,
  tls: Pick<ServerTls, "clientAuthorities">,
): void {
  const leaf = socket.getPeerX509Certificate();
  if (leaf === undefined) return;
  const chain = chainOf(socket.getPeerCertificate(true));
  const { authorizationError: error } = socket;
  const problem = socket.authorized ? undefined : String(error ?? "UNVERIFIED");
  let checked = authorities;
  let isTrusted = problem === undefined;
  (socket as SocketWithPeer)[peerKey] = {
    id: leaf.fingerprint256.replaceAll(":", "").toLowerCase().slice(0, idLength),
    names: namesOf(leaf),
    problem,
    expiresAt: Math.min(...[leaf, ...chain].map(({ validToDate }) => validToDate.getTime())),
    isTrusted() {
      const current = tls.clientAuthorities ?? Buffer.alloc(0);
      if (checked !== current) {
        const now = splitCertificates(current);
        // The chain may be unknown: then no authority of the handshake may be missing.
        const isCovered =
          includesAll(now, splitCertificates(authorities)) || isSignedBy(leaf, chain, now);
        isTrusted = problem === undefined && isCovered;
        checked = current;
      }
      return isTrusted;
    },
  };
}

function includesAll(all: readonly X509Certificate[], some: readonly X509Certificate[]): boolean {
  return some.every((one) => all.some(({ raw }) => raw.equals(one.raw)));
}

/** Returns the certificate of the client of a connection. Undefined if the client presented none. */
export function peerCertificateOf(socket: Socket): PeerCertificate | undefined {
  return (socket as SocketWithPeer)[peerKey];
}

/** Returns the certificates above that of a client, as far as they are known. */
function chainOf(leaf: DetailedPeerCertificate): readonly X509Certificate[] {
  const chain: X509Certificate[] = [];
  const seen = new Set([leaf]);
  for (let next = leaf.issuerCertificate; next?.raw && !seen.has(next);) {
    seen.add(next);
    chain.push(new X509Certificate(next.raw));
    next = next.issuerCertificate;
  }
  return chain;
}

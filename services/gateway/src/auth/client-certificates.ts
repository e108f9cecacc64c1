import type { Clock } from "@reeve/platform/async/clock";
import type { ClientCertificates } from "@reeve/platform/rpc/credentials/client-certificates";
import { refusedCertificate } from "@reeve/platform/rpc/credentials/client-certificates";
import type { PeerCertificate } from "@reeve/platform/tls/peer-certificate";
import type { WatchedPrincipals } from "./watch-principals.ts";

export interface ClientCertificateOptions {
  /** The principals by name of a certificate. Default: certificates are no credentials. */
  readonly clients: Pick<WatchedPrincipals, "find"> | undefined;
  /** Whether requests without a certificate are refused. */
  readonly isRequired: boolean;
  /** Wall-clock time. */
  readonly clock: Pick<Clock, "now">;
}

/**
 * Returns the certificates that are credentials: those with exactly one name in the list of clients. Refuses certificates that
 * have expired or that no authority signed, whatever else the request has.
 */
export function clientCertificates({
  clients,
  isRequired,
  clock,
}: ClientCertificateOptions): ClientCertificates {
  return {
    accept: (peer) => () => {
      if (peer !== undefined) assertValid(peer, clock.now());
      else if (isRequired) {
        throw refusedCertificate(
          "the connection has no client certificate, and REEVE_TLS_CLIENT_REQUIRED is set; connect with one that an authority in REEVE_TLS_CLIENT_CA_FILE signed",
        );
      }
      const [known, second] = (peer?.names ?? []).flatMap((name) => clients?.find(name) ?? []);
      if (second === undefined) return known && { ...known, kind: "certificate" };
      throw refusedCertificate(
        `the client certificate has several names in REEVE_TLS_CLIENTS_FILE: ${peer?.names.join(", ")}; keep the line of one`,
      );
    },
  };
}

function assertValid(peer: PeerCertificate, now: number): void {
  const { problem, expiresAt } = peer;
  if (problem === "CERT_HAS_EXPIRED" || expiresAt <= now) {
    const time = new Date(expiresAt).toISOString();
    throw refusedCertificate(`the client certificate expired at ${time}; connect with a new one`);
  }
  if (problem === undefined && peer.isTrusted()) return;
  throw refusedCertificate(
    `no authority in REEVE_TLS_CLIENT_CA_FILE signed the client certificate, or it is not one for clients${problem === undefined ? "" : ` (${problem})`}; connect with another one, or without one`,
  );
}

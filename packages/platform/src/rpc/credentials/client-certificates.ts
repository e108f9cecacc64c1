import type { ContextValues } from "@connectrpc/connect";
import { createContextKey } from "@connectrpc/connect";
import { ErrorReason } from "@reeve/contracts/error";
import type { Role } from "@reeve/contracts/access/role";
import { Failure } from "../../failure.ts";
import type { PeerCertificate } from "../../tls/peer-certificate.ts";
import type { Credential, Grant } from "../credential.ts";

const peerKey = createContextKey<PeerCertificate | undefined>(undefined, {
  description: "certificate of the client",
});

/** Sets the certificate that the client of a request presented. */
export function setPeerOf(values: ContextValues, peer: PeerCertificate | undefined): void {
  values.set(peerKey, peer);
}

/** Returns the certificate that the client of a request presented, whether it is valid or not. */
export function peerOf(values: ContextValues): PeerCertificate | undefined {
  return values.get(peerKey);
}

/** The certificates of clients that are credentials. */
export interface ClientCertificates {
  /**
   * Returns what the certificate of a connection stands for at each moment: undefined if it is no credential. The result throws a
   * Failure if requests of the connection are refused: its certificate is not valid, or it has none and needs one.
   */
  accept(peer: PeerCertificate | undefined): Grant;
}

/**
 * Returns the credential of a request that has a certificate and a token: the roles that both give. Throws a Failure if they
 * stand for different subjects.
 */
export function agreed(certificate: Credential, token: Credential): Credential {
  const { tenant, subject, roles } = token;
  if (tenant !== certificate.tenant || subject !== certificate.subject) {
    throw refusedCertificate(
      `the certificate of the connection stands for ${certificate.subject} of tenant ${certificate.tenant}, and the token for ${subject} of tenant ${tenant}; send one of them only, or a token of the same subject`,
    );
  }
  const both = [...roles].filter((role: Role) => certificate.roles.has(role));
  return { ...token, roles: new Set(both) };
}

/** Returns the Failure of a request whose connection has a certificate that is refused. */
export function refusedCertificate(message: string): Failure {
  return new Failure("unauthenticated", ErrorReason.UNAUTHENTICATED, message, {
    metadata: { credential: "REFUSED" },
  });
}

import type { X509Certificate } from "node:crypto";

/**
 * Whether one of `authorities` signed a certificate, directly or through certificates of `chain`, whose other properties must
 * have been verified before.
 */
export function isSignedBy(
  certificate: X509Certificate,
  chain: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
): boolean {
  if (authorities.some((authority) => isIssuer(authority, certificate))) return true;
  return chain.some((between, index) => {
    const rest = chain.toSpliced(index, 1);
    return isIssuer(between, certificate) && isSignedBy(between, rest, authorities);
  });
}

function isIssuer(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

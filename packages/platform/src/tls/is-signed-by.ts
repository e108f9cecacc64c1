import type { X509Certificate } from "node:crypto";

/** How many certificates of a chain are examined. A client sends as many as it likes. */
const maxChain = 16;

/**
 * Whether one of `authorities` signed a certificate, directly or through certificates of `chain`, whose other properties must
 * have been verified before. Examines the first 16 different certificates of the chain, each once.
 */
export function isSignedBy(
  certificate: X509Certificate,
  chain: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
): boolean {
  const different = new Map(chain.map((between) => [between.fingerprint256, between]));
  const left = new Set([...different.values()].slice(0, maxChain));
  const reached = [certificate];
  // The loop also visits what it appends.
  for (const each of reached) {
    if (authorities.some((authority) => isIssuer(authority, each))) return true;
    for (const between of left) {
      if (!isIssuer(between, each)) continue;
      left.delete(between);
      reached.push(between);
    }
  }
  return false;
}

function isIssuer(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { errors } from "jose";
import type { OidcConfig } from "./oidc-config.ts";

/** What `nameOf` returns only for tokens whose signature was verified first. */
const signed: ReadonlySet<string> = new Set(["EXPIRED", "WRONG_AUDIENCE", "WRONG_CLAIM"]);

/** Whether a token was refused although the provider signed it: it has expired, or is for somebody else. */
export function hasValidSignature({ metadata }: Failure): boolean {
  return signed.has(metadata["credential"] ?? "");
}

/** Returns the refusal of a token that `jwtVerify` refused. It verifies the signature before the claims. */
export function refusalOf(error: errors.JOSEError, config: OidcConfig): Failure {
  return refused(problemOf(error, config), nameOf(error));
}

/** Says what is wrong with a token, and what to do. */
function problemOf(error: errors.JOSEError, config: OidcConfig): string {
  if (error instanceof errors.JWTExpired) {
    return `the token expired at ${timeOf(error.payload.exp)}; get a new one, for example with \`reeve login\``;
  }
  if (error instanceof errors.JWTClaimValidationFailed) return claimProblem(error, config);
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return `the token is signed with an algorithm that is not accepted; those of REEVE_OIDC_CONFIG are ${config.algorithms.join(", ")}`;
  }
  if (error instanceof errors.JWKSNoMatchingKey) {
    return `${config.issuer} publishes no key that fits the token's \`kid\`; get a new token`;
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return "the signature of the token is wrong; get a new token";
  }
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid) {
    return `the token is neither one of the gateway's own nor a signed JWT of ${config.issuer}; if the provider gave it, request a JWT for the audience ${config.audience}`;
  }
  return `the token cannot be checked: ${error.message}`;
}

function claimProblem(
  { claim, reason, payload }: errors.JWTClaimValidationFailed,
  { audience }: OidcConfig,
): string {
  if (reason === "missing" || reason === "invalid") {
    return `the claim \`${claim}\` of the token is missing or invalid; let the provider set it`;
  }
  if (claim === "aud") {
    return `the token is not for the audience ${audience}; request one for this audience`;
  }
  if (claim === "nbf") {
    return `the token is valid from ${timeOf(payload.nbf)} only; check the clocks of the provider and the gateway`;
  }
  return `the claim \`${claim}\` of the token is refused; get a new token`;
}

function timeOf(seconds: number | undefined): string {
  const time = new Date((seconds ?? NaN) * 1_000);
  return Number.isNaN(time.getTime()) ? "an unknown time" : time.toISOString();
}

/** Returns a short name of what is wrong with a token. */
function nameOf(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return "EXPIRED";
  if (error instanceof errors.JWTClaimValidationFailed) {
    return error.claim === "aud" ? "WRONG_AUDIENCE" : "WRONG_CLAIM";
  }
  if (error instanceof errors.JWKSNoMatchingKey) return "UNKNOWN_KEY";
  if (error instanceof errors.JWSSignatureVerificationFailed) return "BAD_SIGNATURE";
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid) return "UNKNOWN";
  return "REFUSED";
}

/** `credential` is the short name of the problem, which clients and the audit trail get. */
export function refused(message: string, credential = "REFUSED"): Failure {
  return new Failure("unauthenticated", ErrorReason.UNAUTHENTICATED, message, {
    metadata: { credential },
  });
}

import { ErrorReason } from "@reeve/contracts/error";
import type { Clock } from "@reeve/platform/async/clock";
import { Failure } from "@reeve/platform/failure";
import type { Credentials } from "@reeve/platform/rpc/principal";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { CryptoKey, JWTVerifyResult, ResolvedKey } from "jose";
import { calculateJwkThumbprint, decodeJwt, errors, jwtVerify } from "jose";
import { credentialOfClaims } from "./credential-of-claims.ts";
import type { OidcConfig } from "./oidc-config.ts";
import type { ProviderKeys } from "./provider-keys.ts";

/** The maximum length of a token. */
const maxLength = 8 * 1024;

/** The `typ` of access tokens (RFC 9068) and of providers that do not say more. Others are for other purposes, such as logout. */
const accessTokenTypes: ReadonlySet<string> = new Set(["at+jwt", "application/at+jwt", "jwt"]);

/**
 * Returns the tokens that an OpenID Connect provider signs for this deployment. They end when they expire, or when the provider
 * removes the key that signed them. `clock` is wall-clock time. The first key that cannot be used is logged.
 */
export function jwtCredentials(
  config: OidcConfig,
  keys: Pick<ProviderKeys, "find" | "publishes" | "refresh">,
  clock: Clock,
  log: Logger,
): Credentials {
  const skewSeconds = config.clock_skew_seconds;
  let isUnusableLogged = false;
  return {
    async accept(token) {
      assertSize(token);
      const { payload, thumbprint } = await verified(token);
      const credential = credentialOfClaims(payload, config);
      const endMs = ((payload.exp ?? 0) + skewSeconds) * 1_000;
      return () => (clock.now() < endMs && keys.publishes(thumbprint) ? credential : undefined);
    },
  };

  async function verified(token: string) {
    try {
      // Before the key: keys of other issuers are always unknown.
      const { iss } = decodeJwt(token);
      if (iss !== config.issuer)
        throw refused(`the token is not from the issuer ${config.issuer}`, "WRONG_ISSUER");
      const { payload, key } = await verifiedWithNewKeys(token);
      return { payload, thumbprint: await thumbprintOf(key) };
    } catch (error) {
      if (error instanceof Failure) throw error;
      if (error instanceof errors.JOSEError) throw refused(problemOf(error, config), nameOf(error));
      // A key that is too short or malformed throws a TypeError or a DOMException.
      if (!isUnusableLogged) {
        isUnusableLogged = true;
        log.error({ err: error, issuer: config.issuer }, "a key of the provider cannot be used");
      }
      throw refused(
        `the token cannot be checked, because its key at ${config.issuer} cannot be used; let the provider sign with another key; the log of the gateway says why`,
      );
    }
  }
  /** Verifies again with the keys of this moment if the signature is wrong: a new key may have the id of an old one. */
  async function verifiedWithNewKeys(token: string) {
    try {
      return await verify(token, config, keys, clock);
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
      await keys.refresh().catch(() => undefined);
      return await verify(token, config, keys, clock);
    }
  }
}

async function verify(
  token: string,
  config: OidcConfig,
  keys: Pick<ProviderKeys, "find">,
  clock: Clock,
): Promise<JWTVerifyResult & ResolvedKey<CryptoKey>> {
  return await jwtVerify(
    token,
    (header, input) => {
      assertUsable({ typ: header.typ, kid: header.kid });
      return keys.find(header, input);
    },
    {
      issuer: config.issuer,
      audience: config.audience,
      algorithms: config.algorithms,
      clockTolerance: config.clock_skew_seconds,
      currentDate: new Date(clock.now()),
      requiredClaims: ["exp"],
    },
  );
}

/** The thumbprints of keys, which are the same objects until the keys are read again. */
const thumbprints = new WeakMap<CryptoKey, string>();

async function thumbprintOf(key: CryptoKey): Promise<string> {
  const thumbprint = thumbprints.get(key) ?? (await calculateJwkThumbprint(key));
  thumbprints.set(key, thumbprint);
  return thumbprint;
}

/** Checks a header that nobody has verified: its parameters may be of any type. */
function assertUsable({ typ = "JWT", kid }: Readonly<Record<"typ" | "kid", unknown>>): void {
  if (typeof typ !== "string" || !accessTokenTypes.has(typ.toLowerCase())) {
    throw refused("the token is not an access token, as its `typ` says; send an access token");
  }
  // The key of an accepted token is looked up by its id until the token ends.
  if (typeof kid !== "string") {
    throw refused("the token names no key; let the provider set its `kid`");
  }
}

function assertSize(token: string): void {
  if (token.length <= maxLength) return;
  throw refused(
    `the token has ${token.length} characters, and at most ${maxLength} are accepted; let the provider leave out claims that Reeve does not need`,
  );
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
function refused(message: string, credential = "REFUSED"): Failure {
  return new Failure("unauthenticated", ErrorReason.UNAUTHENTICATED, message, {
    metadata: { credential },
  });
}

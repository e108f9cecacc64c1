import type { Clock } from "@reeve/platform/async/clock";
import { Failure } from "@reeve/platform/failure";
import type { Credentials } from "@reeve/platform/rpc/credentials/bearer-tokens";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type {
  CompactJWSHeaderParameters,
  CryptoKey,
  FlattenedJWSInput,
  JWTVerifyResult,
  ResolvedKey,
} from "jose";
import { calculateJwkThumbprint, decodeJwt, errors, jwtVerify } from "jose";
import { credentialOfClaims } from "./credential-of-claims.ts";
import { refusalOf, refused } from "./jwt-refusal.ts";
import type { OidcConfig } from "./oidc-config.ts";
import type { ProviderKeys } from "./provider-keys.ts";
import { isCrowded } from "./provider-keys.ts";

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
    async accept(token, network) {
      assertSize(token);
      const { payload, thumbprint } = await verified(token, network);
      const credential = credentialOfClaims(payload, config);
      const endMs = ((payload.exp ?? 0) + skewSeconds) * 1_000;
      return () => (clock.now() < endMs && keys.publishes(thumbprint) ? credential : undefined);
    },
  };

  async function verified(token: string, network: string) {
    try {
      // Before the key: keys of other issuers are always unknown.
      const { iss } = decodeJwt(token);
      if (iss !== config.issuer)
        throw refused(`the token is not from the issuer ${config.issuer}`, "WRONG_ISSUER");
      const { payload, key } = await verifiedWithNewKeys(token, network);
      return { payload, thumbprint: await thumbprintOf(key) };
    } catch (error) {
      if (error instanceof Failure) throw error;
      if (error instanceof errors.JOSEError) throw refusalOf(error, config);
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
  async function verifiedWithNewKeys(token: string, network: string) {
    const find: FindKey = (header, input) => keys.find(header, input, network);
    try {
      return await verify(token, config, find, clock);
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
      try {
        await keys.refresh(network);
      } catch (failure) {
        // It may be right. While the provider does not answer, the known keys decide.
        if (isCrowded(failure)) throw failure;
      }
      return await verify(token, config, find, clock);
    }
  }
}

type FindKey = (header: CompactJWSHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey>;

async function verify(
  token: string,
  config: OidcConfig,
  find: FindKey,
  clock: Clock,
): Promise<JWTVerifyResult & ResolvedKey<CryptoKey>> {
  return await jwtVerify(
    token,
    (header, input) => {
      assertUsable({ typ: header.typ, kid: header.kid });
      return find(header, input);
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

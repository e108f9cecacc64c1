import { ErrorReason } from "@reeve/contracts/error";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { Failure } from "@reeve/platform/failure";
import { readDiscovery } from "@reeve/platform/oidc/discovery";
import type { SignIn, StoredSignIns } from "./stored-sign-ins.ts";
import { endOfJwt } from "./end-of-jwt.ts";
import { requestTokens } from "./token-endpoint.ts";

/** A token that ends sooner is renewed, so that it does not end on the way. */
const marginMs = 30_000;

/**
 * Returns the token of the sign-in for a server, or undefined if the user has not signed in. Renews it if it ends soon; while
 * the provider is unavailable, a token that has not ended is returned. Throws a Failure that says how to sign in again if the
 * provider does not renew it.
 */
export async function currentToken(
  signIns: StoredSignIns,
  url: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const stored = signIns.get(url);
  if (stored === undefined || isFresh(stored)) return stored?.accessToken;
  // A refresh token may be valid once only, so processes must not use it at the same time.
  await using _ = await signIns.lock(signal);
  const renewable = signIns.get(url);
  if (renewable === undefined || isFresh(renewable)) return renewable?.accessToken;
  try {
    const next = await renewed(renewable, url, signal);
    signIns.put(url, next);
    signal.throwIfAborted();
    return next.accessToken;
  } catch (error) {
    const isUnavailable = error instanceof Failure && error.kind === "unavailable";
    if (isUnavailable && msLeft(renewable) > 0) return renewable.accessToken;
    throw error;
  }
}

/** Whether a token need not be renewed. One that cannot be renewed is used until it ends. */
function isFresh(signIn: SignIn): boolean {
  return msLeft(signIn) > (signIn.refreshToken === undefined ? 0 : marginMs);
}

/** How long a token is valid: until the end that the provider gave, or that it has itself, else forever. */
function msLeft({ accessToken, expiresAt = endOfJwt(accessToken) ?? Infinity }: SignIn): number {
  return expiresAt - Date.now();
}

async function renewed(stored: SignIn, url: string, signal: AbortSignal): Promise<SignIn> {
  const { issuer, clientId, refreshToken, parameters } = stored;
  if (refreshToken === undefined) throw ended(stored, url, "it cannot be renewed");
  const { token_endpoint: endpoint } = await readDiscovery(issuer, signal);
  if (endpoint === undefined) throw ended(stored, url, "the provider has no token endpoint");
  const request = {
    ...parameters,
    grant_type: "refresh_token",
    client_id: clientId,
    refresh_token: refreshToken,
  };
  // Not the signal of the command: the provider may have replaced the refresh token by the time of an abort.
  const answer = await requestTokens(endpoint, request, neverAborts);
  if (answer.kind === "refused") throw ended(stored, url, answer.description);
  return { issuer, clientId, parameters, ...answer.tokens };
}

function ended({ issuer }: SignIn, url: string, why: string): Failure {
  return new Failure(
    "unauthenticated",
    ErrorReason.UNAUTHENTICATED,
    `the sign-in at ${issuer} for ${url} has ended: ${why}; sign in again: reeve --url ${url} login`,
  );
}

import * as oauth from "oauth4webapi";
import type { BegunSignIn } from "./begun-sign-in.ts";
import type { SignInSettings } from "./sign-in-settings.ts";
import { requestTimeoutMs } from "./sign-in-settings.ts";

/** The tokens of a sign-in. */
export interface SignedIn {
  readonly accessToken: string;
  /** Undefined: the provider does not renew it. */
  readonly refreshToken: string | undefined;
  readonly expiresInMs: number | undefined;
}

/** Where the provider leads back to. It must be registered there, exactly so. */
function redirectUri(): string {
  return `${window.location.origin}/sign-in`;
}

/** Begins a sign-in: returns what this tab keeps, and the address of the provider to open. */
export async function beginSignIn(
  settings: SignInSettings,
  returnTo: string,
): Promise<{ readonly begun: BegunSignIn; readonly url: string }> {
  const server = await discover(settings);
  if (server.authorization_endpoint === undefined) {
    throw new Error(`${settings.issuer} publishes no authorization_endpoint`);
  }
  const begun = {
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    verifier: oauth.generateRandomCodeVerifier(),
    returnTo,
    issuer: settings.issuer,
    clientId: settings.clientId,
  };
  const url = new URL(server.authorization_endpoint);
  const parameters = {
    ...settings.parameters,
    client_id: settings.clientId,
    redirect_uri: redirectUri(),
    response_type: "code",
    scope: settings.scope,
    state: begun.state,
    nonce: begun.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(begun.verifier),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { begun, url: url.href };
}

/** Redeems the code with which the provider led back to `address`. */
export async function finishSignIn(
  settings: SignInSettings,
  { state, nonce, verifier }: BegunSignIn,
  address: URL,
): Promise<SignedIn> {
  const server = await discover(settings);
  const client = clientOf(settings);
  const parameters = oauth.validateAuthResponse(server, client, address, state);
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    parameters,
    redirectUri(),
    verifier,
    optionsFor(settings),
  );
  const hasIdToken = settings.scope.split(" ").includes("openid");
  const answer = await oauth.processAuthorizationCodeResponse(server, client, response, {
    ...(hasIdToken && { expectedNonce: nonce, requireIdToken: true }),
  });
  return signedIn(answer);
}

/** Gets a new token before the old one expires. */
export async function renewSignIn(
  settings: SignInSettings,
  refreshToken: string,
): Promise<SignedIn> {
  const server = await discover(settings);
  const client = clientOf(settings);
  const response = await oauth.refreshTokenGrantRequest(
    server,
    client,
    oauth.None(),
    refreshToken,
    optionsFor(settings),
  );
  const renewed = signedIn(await oauth.processRefreshTokenResponse(server, client, response));
  // A provider that does not rotate refresh tokens sends none.
  return { ...renewed, refreshToken: renewed.refreshToken ?? refreshToken };
}

async function discover(settings: SignInSettings): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(settings.issuer);
  const response = await oauth.discoveryRequest(issuer, optionsFor(settings));
  const server = await oauth.processDiscoveryResponse(issuer, response);
  const { token_endpoint: tokens = settings.issuer } = server;
  if (new URL(tokens).origin !== issuer.origin) {
    throw new Error(
      `the token endpoint of ${settings.issuer} is at ${new URL(tokens).origin}, to which this page may send nothing`,
    );
  }
  return server;
}

/** The gateway accepts an issuer without TLS on loopback only. Each request has a time of its own. */
function optionsFor({ issuer }: SignInSettings) {
  return {
    [oauth.allowInsecureRequests]: issuer.startsWith("http:"),
    signal: AbortSignal.timeout(requestTimeoutMs),
  };
}

function clientOf({ clientId }: SignInSettings): oauth.Client {
  return { client_id: clientId };
}

function signedIn({
  access_token: accessToken,
  refresh_token: refreshToken,
  expires_in: seconds,
}: oauth.TokenEndpointResponse): SignedIn {
  return {
    accessToken,
    refreshToken,
    expiresInMs: seconds === undefined ? undefined : seconds * 1_000,
  };
}

import type {
  AuthProvider,
  FetchLike,
  OAuthClientProvider,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { auth, extractWWWAuthenticateParams } from "@modelcontextprotocol/client";
import { ErrorReason } from "@reeve/contracts/error";
import type { Clock } from "@reeve/platform/async/clock";
import { Failure } from "@reeve/platform/failure";
import { processRedaction } from "@reeve/platform/telemetry/redaction/redaction";
import type { OAuthDiscoveryState } from "@modelcontextprotocol/client";
import { describeProblem } from "../describe-problem.ts";

type UnauthorizedContext = Parameters<NonNullable<AuthProvider["onUnauthorized"]>>[0];

/** What a client is registered with at an authorization server. Texts may not refer to secrets any more. */
export interface OAuthClient {
  /** The only authorization server that gets the credentials. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** Absent: the client requests tokens for itself. */
  readonly refreshToken: string | undefined;
  readonly scope: string | undefined;
}

/** How long the discovery of an authorization server and its answers may take together. */
const authTimeoutMs = 30_000;
/** How long a discovery is used. After that, the MCP server is asked again. */
export const discoveryLifetimeMs = 600_000;

/**
 * The tokens of one client for one MCP server. A token is requested when the server refuses a request, once for all requests that
 * wait. The server says where its authorization server is; only the configured one gets credentials.
 */
export class OAuthSession implements AuthProvider {
  readonly #provider: MachineProvider;
  #renewal: Promise<void> | undefined;

  /** `clock` is a monotonic clock. */
  constructor(client: OAuthClient, clock: Pick<Clock, "now">) {
    this.#provider = new MachineProvider(client, clock);
  }

  token(): Promise<string | undefined> {
    return Promise.resolve(this.#provider.tokens()?.access_token);
  }

  async onUnauthorized(context: UnauthorizedContext): Promise<void> {
    this.#renewal ??= this.#renew(context).finally(() => (this.#renewal = undefined));
    await this.#renewal;
  }

  async #renew({ response, serverUrl, fetchFn }: UnauthorizedContext): Promise<void> {
    const { resourceMetadataUrl } = extractWWWAuthenticateParams(response);
    try {
      await auth(this.#provider, {
        serverUrl,
        fetchFn: authFetch(fetchFn, AbortSignal.timeout(authTimeoutMs)),
        ...(resourceMetadataUrl && { resourceMetadataUrl }),
      });
    } catch (cause) {
      // What was discovered may be the reason.
      this.#provider.invalidateCredentials();
      const message = `the authorization server gives no token: ${describeProblem(cause)}`;
      throw new Failure("unavailable", ErrorReason.UNAVAILABLE, message, { cause });
    }
  }
}

/** The SDK logs what an authorization server says about an error. It may say what it was sent. */
function authFetch(fetch: FetchLike, signal: AbortSignal): FetchLike {
  return async (input, init) => {
    const response = await fetch(input, { ...init, signal });
    if (response.ok) return response;
    const { status, statusText, headers } = response;
    const text = processRedaction.text(await response.text());
    return new Response(text, { status, statusText, headers });
  };
}

/** A client without a person: it has a secret, a refresh token, or both. */
class MachineProvider implements OAuthClientProvider {
  readonly redirectUrl = undefined;
  readonly #client: OAuthClient;
  #refreshToken: string | undefined;
  #tokens: StoredOAuthTokens | undefined;
  readonly #clock: Pick<Clock, "now">;
  #discovery: { readonly state: OAuthDiscoveryState; readonly untilMs: number } | undefined;

  constructor(client: OAuthClient, clock: Pick<Clock, "now">) {
    this.#client = client;
    this.#clock = clock;
    this.#refreshToken = client.refreshToken;
  }

  get clientMetadata() {
    const { scope, clientSecret } = this.#client;
    return {
      client_name: "reeve",
      redirect_uris: [],
      token_endpoint_auth_method: clientSecret === undefined ? "none" : "client_secret_basic",
      ...(scope !== undefined && { scope }),
    };
  }

  clientInformation() {
    const { issuer, clientId, clientSecret } = this.#client;
    return {
      issuer,
      client_id: clientId,
      ...(clientSecret !== undefined && { client_secret: clientSecret }),
    };
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.#tokens;
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    for (const value of [tokens.access_token, tokens.refresh_token, tokens.id_token]) {
      if (value !== undefined) processRedaction.add(value);
    }
    this.#tokens = tokens;
    // The server may replace the refresh token with each use.
    if (this.#refreshToken !== undefined)
      this.#refreshToken = tokens.refresh_token ?? this.#refreshToken;
  }

  prepareTokenRequest(scope?: string): URLSearchParams {
    const refresh = this.#refreshToken;
    // The scope that a person granted cannot grow.
    if (refresh !== undefined) {
      return new URLSearchParams({ grant_type: "refresh_token", refresh_token: refresh });
    }
    const wanted = this.#client.scope ?? scope;
    return new URLSearchParams({
      grant_type: "client_credentials",
      ...(wanted !== undefined && { scope: wanted }),
    });
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    const known = this.#discovery;
    return known !== undefined && this.#clock.now() < known.untilMs ? known.state : undefined;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = { state, untilMs: this.#clock.now() + discoveryLifetimeMs };
  }

  /** What was discovered may be out of date. */
  invalidateCredentials(): void {
    this.#discovery = undefined;
  }

  redirectToAuthorization(): never {
    throw noPerson();
  }

  saveCodeVerifier(): never {
    throw noPerson();
  }

  codeVerifier(): never {
    throw noPerson();
  }
}

function noPerson(): Error {
  return new Error("nobody can sign in here");
}

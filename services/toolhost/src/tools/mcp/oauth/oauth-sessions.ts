import { steadyClock } from "@reeve/platform/async/clock";
import { withSecrets } from "../../../secrets/secret-references.ts";
import type { Secrets } from "../../../secrets/secrets.ts";
import type { McpServerConfig } from "../mcp-config.ts";
import { OAuthSession } from "./oauth-session.ts";

/** How many sessions are kept. One that is forgotten requests a new token, with the refresh token of its secret. */
const maxSessions = 1_000;

/**
 * The OAuth sessions of a server, one for each set of credentials. They outlive connections, so that a refresh token that the
 * authorization server replaced is not lost with one.
 */
export class OAuthSessions {
  readonly #sessions = new Map<string, OAuthSession>();

  /** Returns the session with the secrets of a tenant. Undefined: the server uses no OAuth. */
  async of(
    config: McpServerConfig,
    tenant: string,
    secrets: Secrets,
    signal: AbortSignal,
  ): Promise<OAuthSession | undefined> {
    if (!("url" in config) || config.oauth === undefined) return undefined;
    const { issuer, scope, ...others } = config.oauth;
    const texts = Object.entries(others).filter((entry): entry is [string, string] => {
      return entry[1] !== undefined;
    });
    const filled = await withSecrets(Object.fromEntries(texts), tenant, secrets, signal);
    const { client_id: clientId = "", client_secret: clientSecret } = filled;
    const refreshToken = filled["refresh_token"];
    const key = JSON.stringify([clientId, clientSecret, refreshToken]);
    const session =
      this.#sessions.get(key) ??
      new OAuthSession({ issuer, clientId, clientSecret, refreshToken, scope }, steadyClock);
    this.#sessions.delete(key);
    this.#sessions.set(key, session);
    for (const oldest of this.#sessions.keys()) {
      if (this.#sessions.size <= maxSessions) break;
      this.#sessions.delete(oldest);
    }
    return session;
  }
}

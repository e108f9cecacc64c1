import type { FetchLike } from "@modelcontextprotocol/client";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { headersWithSecrets } from "../../secrets/secret-references.ts";
import type { Secrets } from "../../secrets/secrets.ts";
import type { HttpServerConfig } from "./mcp-config.ts";

/**
 * Returns a `fetch` that adds the configured headers to each request to the server, with the secrets that `tenant` has at that
 * moment. Requests to other origins, such as those of an authorization server, do not get them.
 */
export function serverFetch(
  fetch: FetchLike,
  { url, headers }: HttpServerConfig,
  tenant: string,
  secrets: Secrets,
): FetchLike {
  const { origin } = new URL(url);
  return async (input, init) => {
    if (new URL(input).origin !== origin) return await fetch(input, init);
    const own = await headersWithSecrets(headers, tenant, secrets, init?.signal ?? neverAborts);
    const all = new Headers(init?.headers);
    for (const [name, value] of Object.entries(own)) all.set(name, value);
    return await fetch(input, { ...init, headers: all });
  };
}

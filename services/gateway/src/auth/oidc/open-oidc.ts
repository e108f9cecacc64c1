import { Background } from "@reeve/platform/async/background";
import { steadyClock, systemClock } from "@reeve/platform/async/clock";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { readDiscovery } from "@reeve/platform/oidc/discovery";
import { fetchJson } from "@reeve/platform/oidc/fetch-json";
import type { Credentials } from "@reeve/platform/rpc/credentials/bearer-tokens";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { JSONWebKeySet } from "jose";
import { z } from "zod";
import { jwtCredentials } from "./jwt-credentials.ts";
import type { OidcConfig } from "./oidc-config.ts";
import { readOidcConfig } from "./oidc-config.ts";
import { ProviderKeys } from "./provider-keys.ts";

const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

/**
 * Returns the tokens of the OpenID Connect provider in a file. The provider need not answer yet. Throws a Failure if the file
 * cannot be used.
 */
export async function openOidc(
  path: string,
  log: Logger,
  resources: AsyncDisposableStack,
): Promise<Credentials> {
  const config = await readOidcConfig(path);
  const background = resources.use(new Background(log, new AbortController().signal));
  const read = (signal: AbortSignal) => readKeys(config, signal);
  const options = { issuer: config.issuer, read, clock: steadyClock, log };
  const keys = new ProviderKeys(options, background.signal);
  background.run(() => keys.keep());
  return jwtCredentials(config, keys, systemClock, log);
}

async function readKeys(config: OidcConfig, signal: AbortSignal): Promise<JSONWebKeySet> {
  const uri = config.jwks_uri ?? (await readDiscovery(config.issuer, signal)).jwks_uri;
  if (uri === undefined)
    throw unusable(`${config.issuer} publishes no jwks_uri; set it in the file`);
  const { status, body } = await fetchJson(uri, {}, signal);
  const parsed = keySet.safeParse(body);
  if (status === 200 && parsed.success) return parsed.data;
  throw unusable(`${uri} answers with status ${status}, and not with a set of keys`);
}

function unusable(problem: string): Failure {
  const message = `REEVE_OIDC_CONFIG: ${problem}`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
}

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@reeve/platform/async/clock";
import type { ClientCertificates } from "@reeve/platform/rpc/credentials/client-certificates";
import type { Credentials } from "@reeve/platform/rpc/credentials/bearer-tokens";
import type { Credential, Principal } from "@reeve/platform/rpc/principal";
import { fixedCredentials } from "@reeve/platform/rpc/credentials/bearer-tokens";
import { allRoles } from "@reeve/platform/rpc/roles";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { PrincipalDirectory } from "../app/triggers/owner-check.ts";
import type { GatewayConfig } from "../config.ts";
import { clientCertificates } from "./client-certificates.ts";
import { parseClientFile } from "./client-file.ts";
import { openOidc } from "./oidc/open-oidc.ts";
import type { KnownCredentials } from "./listed-credentials.ts";
import type { StoredPrincipal } from "./principal-lines.ts";
import type { WatchedPrincipals } from "./watch-principals.ts";
import { watchPrincipals } from "./watch-principals.ts";
import type { WatchedTokens } from "./watch-token-file.ts";
import { watchTokenFile } from "./watch-token-file.ts";

/** What requests are accepted with. */
export interface OpenedCredentials {
  readonly tokens: Credentials;
  readonly certificates: ClientCertificates;
  /** What operators see of them. */
  readonly known: KnownCredentials;
  /** Whom the settings name, at this moment. Without those that only an identity provider knows. */
  readonly directory: PrincipalDirectory;
}

/**
 * Returns the tokens and the certificates of the settings. Without any, generates a token for development, in a file that the log names.
 * Throws a Failure if a file cannot be used.
 */
export async function openCredentials(
  config: GatewayConfig,
  log: Logger,
  resources: AsyncDisposableStack,
): Promise<OpenedCredentials> {
  const clients = openClients(config, log, resources);
  const isRequired = config.REEVE_TLS_CLIENT_REQUIRED;
  const { REEVE_TOKENS: settings, REEVE_TOKENS_FILE: file, REEVE_OIDC_CONFIG: oidc } = config;
  const tokenFile =
    file === undefined
      ? undefined
      : resources.use(watchTokenFile(file, { clock: systemClock, log }));
  const fixed = isConfigured(config) ? settings : developmentToken(log, resources);
  const files = [() => tokenFile?.all(), () => clients?.all()];
  return {
    tokens: await openTokens(fixed, tokenFile, oidc, log, resources),
    certificates: clientCertificates({ clients, isRequired, clock: systemClock }),
    known: {
      settings,
      tokenFile: () => tokenFile?.all() ?? new Map(),
      certificates: () => clients?.all() ?? new Map(),
      acceptsIdentityProvider: oidc !== undefined,
    },
    directory: {
      find({ tenant, subject }: Principal) {
        const stored = files.flatMap((read) => [...(read()?.values() ?? [])].filter(isCurrent));
        return [...fixed.values(), ...stored].filter(
          (each) => each.tenant === tenant && each.subject === subject,
        );
      },
    },
  };
}

function isCurrent({ expiresAt = Infinity }: StoredPrincipal): boolean {
  return expiresAt > systemClock.now();
}

function isConfigured({
  REEVE_TOKENS: tokens,
  REEVE_TOKENS_FILE: file,
  REEVE_OIDC_CONFIG: oidc,
  REEVE_TLS_CLIENTS_FILE: clients,
}: GatewayConfig): boolean {
  return tokens.size > 0 || [file, oidc, clients].some((path) => path !== undefined);
}

function openClients(
  { REEVE_TLS_CLIENTS_FILE: path }: GatewayConfig,
  log: Logger,
  resources: AsyncDisposableStack,
): WatchedPrincipals | undefined {
  const setting = "REEVE_TLS_CLIENTS_FILE";
  const options = { setting, noun: "file of clients", parse: parseClientFile };
  return path === undefined
    ? undefined
    : resources.use(watchPrincipals(path, { ...options, clock: systemClock, log }));
}

/** Returns the tokens that are known, those of the token file, and those of the OpenID Connect provider. */
async function openTokens(
  fixed: ReadonlyMap<string, Credential>,
  tokenFile: WatchedTokens | undefined,
  oidc: GatewayConfig["REEVE_OIDC_CONFIG"],
  log: Logger,
  resources: AsyncDisposableStack,
): Promise<Credentials> {
  const credentials = [fixedCredentials(fixed)];
  if (tokenFile !== undefined) credentials.push(tokenFile);
  // The last one: it refuses every token that it does not know, and says why.
  if (oidc !== undefined) credentials.push(await openOidc(oidc, log, resources));
  return firstOf(credentials);
}

/** Returns credentials that accept what one of `all` accepts. */
function firstOf(all: readonly Credentials[]): Credentials {
  return {
    async accept(token, network) {
      for (const credentials of all) {
        const grant = await credentials.accept(token, network);
        if (grant !== undefined) return grant;
      }
      return undefined;
    },
  };
}

function developmentToken(
  log: Logger,
  resources: AsyncDisposableStack,
): ReadonlyMap<string, Credential> {
  const development = randomBytes(18).toString("base64url");
  // Not logged: others may read the log. Only the user of this process can read the file.
  const folder = mkdtempSync(join(tmpdir(), "reeve-token-"));
  resources.defer(() => rmSync(folder, { recursive: true, force: true }));
  const tokenFile = join(folder, "token");
  writeFileSync(tokenFile, `${development}\n`, { mode: 0o600 });
  log.warn(
    { tokenFile },
    "REEVE_TOKENS is not set; use the token in this file, which is valid until the process ends",
  );
  const principal = { tenant: "default", subject: "developer" };
  return new Map([[development, { ...principal, roles: allRoles, kind: "development" }]]);
}

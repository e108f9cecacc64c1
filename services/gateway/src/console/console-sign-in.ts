import type { OidcConfig } from "../auth/oidc/oidc-config.ts";
import { readOidcConfig } from "../auth/oidc/oidc-config.ts";

/** Where the console reads how people sign in. Everybody may read it: it has no secret. */
export const signInPath = "/console/sign-in.json";

/** How people sign in to the console with an OpenID Connect provider. */
export interface ConsoleSignIn {
  readonly issuer: string;
  readonly clientId: string;
  readonly scope: string;
  /** Further parameters of the request. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Origins of the provider beside that of the issuer. */
  readonly connectOrigins: readonly string[];
}

/** Reads it from the file that REEVE_OIDC_CONFIG names. Undefined: people enter tokens. */
export async function readConsoleSignIn(
  path: string | undefined,
): Promise<ConsoleSignIn | undefined> {
  return path === undefined ? undefined : consoleSignInOf(await readOidcConfig(path));
}

function consoleSignInOf({ issuer, console }: OidcConfig): ConsoleSignIn | undefined {
  if (console === undefined) return undefined;
  const { client_id: clientId, scope, parameters, connect_origins: connectOrigins } = console;
  return { issuer, clientId, scope, parameters, connectOrigins };
}

import type { SecretTexts } from "../../secrets/secret-references.ts";
import { usesSecrets } from "../../secrets/secret-references.ts";

/** The settings of a server that may refer to secrets. */
type SecretSettings =
  | { readonly headers: SecretTexts; readonly oauth?: OAuthSettings | undefined }
  | { readonly env: SecretTexts };

/** The client of a server that uses OAuth. Its texts may refer to secrets. */
interface OAuthSettings {
  readonly issuer: string;
  readonly client_id: string;
  readonly client_secret?: string | undefined;
  readonly refresh_token?: string | undefined;
  readonly scope?: string | undefined;
}

/** Returns the texts of a server's settings that may refer to secrets of tenants. */
export function secretTextsOf(config: SecretSettings): SecretTexts {
  if ("env" in config) return config.env;
  return { ...config.headers, ...oauthTexts(config.oauth) };
}

/** Returns the settings of a client as texts in which secrets can be filled in. No header has such a name. */
function oauthTexts(settings: OAuthSettings | undefined): SecretTexts {
  const texts = Object.entries(settings ?? {}).filter(([, text]) => text !== undefined);
  return Object.fromEntries(texts.map(([key, text]) => [`oauth: ${key}`, String(text)]));
}

/** Whether a server is used with secrets of the tenant that calls. */
export function usesTenantSecrets(config: SecretSettings): boolean {
  return usesSecrets(secretTextsOf(config));
}

/** Whether each tenant has its own connection to a server. */
export function isPerTenant(config: SecretSettings & { readonly per_tenant: boolean }): boolean {
  return config.per_tenant || usesTenantSecrets(config);
}

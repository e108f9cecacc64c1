import type { SecretTexts } from "../../secrets/secret-references.ts";
import { usesSecrets } from "../../secrets/secret-references.ts";

/** The settings of a server that may refer to secrets. */
type SecretSettings = { readonly headers: SecretTexts } | { readonly env: SecretTexts };

/** Returns the texts of a server's settings that may refer to secrets of tenants. */
export function secretTextsOf(config: SecretSettings): SecretTexts {
  return "headers" in config ? config.headers : config.env;
}

/** Whether a server is used with secrets of the tenant that calls. */
export function usesTenantSecrets(config: SecretSettings): boolean {
  return usesSecrets(secretTextsOf(config));
}

/** Whether each tenant has its own connection to a server. */
export function isPerTenant(config: SecretSettings & { readonly per_tenant: boolean }): boolean {
  return config.per_tenant || usesTenantSecrets(config);
}

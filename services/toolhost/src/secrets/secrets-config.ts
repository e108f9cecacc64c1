import type { Environment } from "@reeve/platform/config";
import { steadyClock } from "@reeve/platform/async/clock";
import { secureUrl } from "@reeve/platform/oidc/discovery";
import { invalidConfig, readJsonConfig } from "@reeve/platform/process/json-config";
import { z } from "zod";
import type { VariableNames } from "./environment-secrets.ts";
import { environmentSecrets } from "./environment-secrets.ts";
import { folderSecrets } from "./folder-secrets.ts";
import type { SecretSource } from "./secret-source.ts";
import { secretName } from "./secret-source.ts";
import { VaultSecrets } from "./vault-secrets.ts";
import type { CredentialSettings } from "./network-credentials.ts";
import { credentialSettings } from "./network-credentials.ts";

const setting = "REEVE_SECRETS_CONFIG";

const absolutePath = z.string().startsWith("/");
const key = z.string().regex(secretName);
/** A path in Vault, or a field, in which `{tenant}` and `{name}` are filled in. */
const template = z.string().regex(/^[A-Za-z0-9._{}/-]+$/);

function hasBoth(part: string): boolean {
  return part.includes("{tenant}") && part.includes("{name}");
}

const source = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("folder"), path: absolutePath }),
  z.strictObject({
    kind: z.literal("environment"),
    tenants: z.record(key, z.record(key, z.string().min(1))),
  }),
  z
    .strictObject({
      kind: z.literal("vault"),
      url: secureUrl,
      token_file: absolutePath,
      mount: template.default("secret"),
      path: template.default("reeve/{tenant}"),
      field: template.default("{name}"),
      namespace: z.string().min(1).optional(),
      cache_seconds: z.number().min(0).max(86_400).default(60),
    })
    .refine(
      ({ path, field }) => `${path} ${field}`.includes("{name}"),
      "path or field must contain {name}",
    )
    .refine(({ path }) => path.includes("{tenant}"), "path must contain {tenant}")
    .refine(
      ({ path }) => !path.split("/").some(hasBoth),
      "{tenant} and {name} must be separated by a slash in path: acme-eu and key would be acme and eu-key otherwise",
    ),
]);

const config = z.strictObject({
  sources: z.array(source).min(1).max(16),
  network_credentials: credentialSettings.default({}),
});

/** Where the secrets are, and which of them proxies of sandboxes may use. */
export interface SecretsConfig {
  /** In the order in which they are asked. */
  readonly sources: readonly SecretSource[];
  readonly networkCredentials: CredentialSettings;
}

/** Reads the file that `REEVE_SECRETS_CONFIG` names. Throws a Failure that says what is wrong with it. */
export async function readSecretsConfig(
  path: string | undefined,
  environment: Environment,
): Promise<SecretsConfig> {
  if (path === undefined) return { sources: [], networkCredentials: {} };
  const { sources, network_credentials: networkCredentials } = await readJsonConfig(
    setting,
    path,
    config,
  );
  return { sources: sources.map((given) => sourceOf(given, environment)), networkCredentials };
}

function sourceOf(given: z.infer<typeof source>, environment: Environment): SecretSource {
  switch (given.kind) {
    case "folder":
      return folderSecrets(given.path);
    case "environment":
      assertSet(given.tenants, environment);
      return environmentSecrets(given.tenants, environment);
    case "vault": {
      const { url, mount, path, field, namespace, token_file: tokenFile } = given;
      const cacheMs = given.cache_seconds * 1_000;
      const options = { url, mount, path, field, namespace, tokenFile, cacheMs };
      return new VaultSecrets(options, steadyClock);
    }
  }
}

function assertSet(names: VariableNames, environment: Environment): void {
  const variables = Object.values(names).flatMap((secrets) => Object.values(secrets));
  const missing = variables.filter((name) => (environment[name] ?? "") === "");
  if (missing.length > 0)
    throw invalidConfig(setting, `the environment has no ${missing.join(", ")}`);
}

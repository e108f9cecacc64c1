import { readFile } from "node:fs/promises";
import { parseNetworkEntry } from "@reeve/agent/spec/network-entry";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { minSecretLength } from "@reeve/platform/telemetry/redaction/secret-forms";
import { invalidConfig } from "@reeve/platform/process/json-config";
import { reservedHeaders } from "@reeve/sandbox/network/forward-with-secrets";
import type { NetworkCredential } from "@reeve/sandbox/network/network-credential";
import { z } from "zod";
import { checkReferences, headersWithSecrets, usesSecrets } from "./secret-references.ts";
import type { SecretKey } from "./secret-source.ts";
import { secretName } from "./secret-source.ts";
import type { Secrets } from "./secrets.ts";

const setting = "REEVE_SECRETS_CONFIG";

const host = z.string().transform((text, context) => {
  const entry = parseNetworkEntry(text, "agent");
  if (entry !== undefined) return entry;
  context.addIssue(`"${text}" is not host:port, such as api.example.org:443 or *.example.org:443`);
  return z.NEVER;
});

const header = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,64}$/)
  .transform((name) => name.toLowerCase())
  .refine((name) => !reservedHeaders.has(name), "is a header that a credential cannot set");

const credential = z.strictObject({
  hosts: z.array(host).min(1).max(100),
  header: header.default("authorization"),
  value: z.string().max(1_000),
  tenants: z.array(z.string().regex(secretName)).min(1).optional(),
  ca_file: z.string().startsWith("/").optional(),
});

/** The settings of credentials, by name. */
export const credentialSettings = z
  .record(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/), credential)
  .refine((all) => Object.keys(all).length <= 100, "has more than 100 credentials");

export type CredentialSettings = z.infer<typeof credentialSettings>;

/**
 * Returns the credentials that proxies of sandboxes may use. Their secrets are read when a request needs them. Throws a Failure if one
 * refers to no secret, or if its file cannot be read.
 */
export async function networkCredentials(
  settings: CredentialSettings,
  secrets: Secrets,
): Promise<readonly NetworkCredential[]> {
  const all = Object.entries(settings).map(async ([name, given]): Promise<NetworkCredential> => {
    const field = `network_credentials.${name}`;
    const texts = { [given.header]: given.value };
    checkReferences(setting, { [`${field}.value`]: given.value });
    if (!usesSecrets(texts)) {
      throw invalidConfig(setting, `${field}.value refers to no secret, such as \${secret:token}`);
    }
    return {
      name,
      hosts: given.hosts,
      header: given.header,
      tenants: given.tenants && new Set(given.tenants),
      ca: given.ca_file === undefined ? undefined : await textOf(field, given.ca_file),
      value: async (tenant, signal) => {
        const read: string[] = [];
        const reading = {
          value: async (...asked: Parameters<Secrets["value"]>) => {
            const value = await secrets.value(...asked);
            assertRecognizable(asked[0], value);
            read.push(value);
            return value;
          },
        };
        const headers = await headersWithSecrets(texts, tenant, reading, signal);
        return { text: headers[given.header] ?? "", secrets: read };
      },
    };
  });
  return await Promise.all(all);
}

/** Throws a Failure for a secret that could not be redacted in what the host answers. */
function assertRecognizable({ tenant, name }: SecretKey, value: string): void {
  if (value.trim().length >= minSecretLength) return;
  const problem = `the secret ${name} of tenant ${tenant} has fewer than ${minSecretLength} characters, and would not be recognized in answers`;
  const message = `${problem}; use a longer one`;
  throw new Failure("precondition", ErrorReason.INVALID_REQUEST, message);
}

async function textOf(field: string, path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw invalidConfig(setting, `${field}.ca_file ${path} cannot be read`, cause);
  }
}

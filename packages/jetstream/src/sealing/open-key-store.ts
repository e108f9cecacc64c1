import { stat } from "node:fs/promises";
import { secureUrl } from "@reeve/platform/oidc/discovery";
import { readJsonConfig } from "@reeve/platform/process/json-config";
import { z } from "zod";
import { FolderKeyStore } from "./folder-key-store.ts";
import type { KeyAdmin, KeyStore } from "./key-store.ts";
import { VaultKeyStore } from "./vault-key-store.ts";

const setting = "REEVE_ENCRYPTION_KEYS";

const config = z.strictObject({
  kind: z.literal("vault"),
  url: secureUrl,
  token_file: z.string().startsWith("/"),
  mount: z
    .string()
    .regex(/^[A-Za-z0-9._/-]+$/)
    .default("transit"),
  key_name: z
    .string()
    .regex(/^[A-Za-z0-9._-]*\{tenant\}[A-Za-z0-9._-]*$/, "must contain {tenant} once")
    .default("reeve-{tenant}"),
  namespace: z.string().min(1).optional(),
});

/**
 * Returns the keys of tenants that a setting names: a JSON file that says where Vault is, or a folder with a file for each tenant,
 * which is created with the first key. Throws a Failure that says what is wrong with the file.
 */
export async function openKeyStore(path: string): Promise<KeyStore & KeyAdmin> {
  const isFile = await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
  if (!isFile) return new FolderKeyStore(path);
  const given = await readJsonConfig(setting, path, config);
  const { url, mount, namespace, token_file: tokenFile, key_name: keyName } = given;
  return new VaultKeyStore({ url, mount, namespace, tokenFile, keyName });
}

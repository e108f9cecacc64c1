import { stat } from "node:fs/promises";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
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
 * Returns the keys of tenants that a setting names: a JSON file that says where Vault is, or a folder with a file for each tenant.
 * Throws a Failure that says what is wrong with it. The folder has to exist: a missing one may be a wrong path, or a volume that is
 * not mounted, and keys in its place would be lost.
 */
export async function openKeyStore(path: string): Promise<KeyStore & KeyAdmin> {
  const found = await stat(path).catch((cause: unknown) => {
    throw refused(
      `${path} cannot be read; for keys in a folder, create it first: mkdir -m 700 ${path}`,
      cause,
    );
  });
  if (found.isDirectory()) {
    if (path.replace(/\/+$/, "").endsWith(".json")) {
      throw refused(`${path} is a folder with the name of a file; check what is mounted there`);
    }
    return new FolderKeyStore(path);
  }
  const given = await readJsonConfig(setting, path, config);
  const { url, mount, namespace, token_file: tokenFile, key_name: keyName } = given;
  return new VaultKeyStore({ url, mount, namespace, tokenFile, keyName });
}

function refused(problem: string, cause?: unknown): Failure {
  const message = `${setting}: ${problem}`;
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { cause });
}

import { randomBytes } from "node:crypto";
import { decrypt, encrypt, keyBytes } from "./aes-gcm.ts";
import { notAuthentic, tenantKeyDeleted } from "./key-failures.ts";
import { checkedTenant } from "./tenant-name.ts";
import type { KeyAdmin, KeyStore, WrappedKey } from "./key-store.ts";

/** The versions of a tenant's key, the current one last. */
export type KeyVersions = readonly (readonly [version: string, key: Uint8Array])[];

/** Keys of tenants in memory, for tests. They end with the process. */
export class MemoryKeyStore implements KeyStore, KeyAdmin {
  readonly #keys = new Map<string, KeyVersions>();
  readonly #deleted = new Set<string>();

  async wrap(tenant: string, dataKey: Uint8Array, signal: AbortSignal): Promise<WrappedKey> {
    return wrapWith(tenant, await this.#versions(tenant, signal), dataKey);
  }

  async unwrap(tenant: string, wrapped: WrappedKey, signal: AbortSignal): Promise<Uint8Array> {
    return unwrapWith(tenant, await this.#versions(tenant, signal), wrapped);
  }

  async rotate(tenant: string, signal: AbortSignal): Promise<void> {
    this.#keys.set(tenant, withNewVersion(await this.#versions(tenant, signal)));
  }

  async retire(tenant: string, signal: AbortSignal): Promise<void> {
    this.#keys.set(tenant, (await this.#versions(tenant, signal)).slice(-1));
  }

  async delete(tenant: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await Promise.resolve();
    this.#keys.delete(tenant);
    this.#deleted.add(tenant);
  }

  async #versions(tenant: string, signal: AbortSignal): Promise<KeyVersions> {
    signal.throwIfAborted();
    await Promise.resolve();
    checkedTenant(tenant);
    if (this.#deleted.has(tenant)) throw tenantKeyDeleted(tenant);
    const versions = this.#keys.get(tenant) ?? withNewVersion([]);
    this.#keys.set(tenant, versions);
    return versions;
  }
}

/** Adds a random version, which becomes the current one. */
export function withNewVersion(versions: KeyVersions): KeyVersions {
  const next = Number(versions.at(-1)?.[0] ?? 0) + 1;
  return [...versions, [String(next), randomBytes(keyBytes)]];
}

/** Encrypts a data key with the current version. It can be decrypted for this tenant only. */
export function wrapWith(tenant: string, versions: KeyVersions, dataKey: Uint8Array): WrappedKey {
  const current = versions.at(-1);
  if (current === undefined) throw tenantKeyDeleted(tenant);
  const [version, key] = current;
  return { version, bytes: encrypt(key, contextOf(tenant, version), dataKey) };
}

export function unwrapWith(
  tenant: string,
  versions: KeyVersions,
  { version, bytes }: WrappedKey,
): Uint8Array {
  const found = versions.find(([known]) => known === version);
  const key = found && decrypt(found[1], contextOf(tenant, version), bytes);
  if (key === undefined) throw notAuthentic(`a data key of tenant ${tenant}`);
  return key;
}

function contextOf(tenant: string, version: string): Buffer {
  return Buffer.from(`reeve-data-key\0${tenant}\0${version}`);
}

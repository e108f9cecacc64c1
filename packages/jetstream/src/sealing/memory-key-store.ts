import { randomBytes } from "node:crypto";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { decrypt, encrypt, keyBytes } from "./aes-gcm.ts";
import { dataKeyNotAuthentic, tenantKeyDeleted } from "./key-failures.ts";
import { checkedTenant } from "./tenant-name.ts";
import type { KeyAdmin, KeyStore, WrappedKey } from "./key-store.ts";
import { versionNumber } from "./key-store.ts";

/** The versions of a tenant's key, the current one last. */
export type KeyVersions = readonly (readonly [version: string, key: Uint8Array])[];

/** Keys of tenants in memory, for tests. They end with the process. */
export class MemoryKeyStore implements KeyStore, KeyAdmin {
  readonly #keys = new Map<string, KeyVersions>();
  readonly #deleted = new Set<string>();
  readonly #locked = new Set<string>();

  async wrap(tenant: string, dataKey: Uint8Array, signal: AbortSignal): Promise<WrappedKey> {
    return wrapWith(tenant, await this.#versions(tenant, signal), dataKey);
  }

  async unwrap(tenant: string, wrapped: WrappedKey, signal: AbortSignal): Promise<Uint8Array> {
    return unwrapWith(tenant, await this.#versions(tenant, signal), wrapped);
  }

  async lock(tenant: string, signal: AbortSignal): Promise<AsyncDisposable> {
    signal.throwIfAborted();
    await Promise.resolve();
    if (this.#locked.has(tenant)) {
      const message = `another command changes the key of tenant ${tenant}`;
      throw new Failure("conflict", ErrorReason.REVISION_CONFLICT, message);
    }
    this.#locked.add(tenant);
    return {
      [Symbol.asyncDispose]: () => {
        this.#locked.delete(tenant);
        return Promise.resolve();
      },
    };
  }

  async rotate(tenant: string, signal: AbortSignal): Promise<void> {
    this.#keys.set(tenant, withNewVersion(await this.#versions(tenant, signal)));
  }

  async retire(tenant: string, oldest: string, signal: AbortSignal): Promise<void> {
    this.#keys.set(tenant, versionsFrom(await this.#versions(tenant, signal), oldest));
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

/** Returns the versions without those before `oldest`. The current one always stays. */
export function versionsFrom(versions: KeyVersions, oldest: string): KeyVersions {
  const kept = versions
    .slice(0, -1)
    .filter(([version]) => versionNumber(version) >= versionNumber(oldest));
  return [...kept, ...versions.slice(-1)];
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
  if (key === undefined) throw dataKeyNotAuthentic(tenant);
  return key;
}

function contextOf(tenant: string, version: string): Buffer {
  return Buffer.from(`reeve-data-key\0${tenant}\0${version}`);
}

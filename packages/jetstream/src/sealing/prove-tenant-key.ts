import type { TenantDataKey } from "@reeve/contracts/sealing";
import { Failure } from "@reeve/platform/failure";
import type { Row } from "../table/port.ts";
import { keysUnavailable } from "./key-failures.ts";
import type { KeyStore } from "./key-store.ts";

/**
 * Throws a Failure unless the key of a tenant decrypts one of the tenant's data keys. Otherwise the store of keys is another one, or
 * is empty, and a new key in it would encrypt what nobody can read once the right one is back.
 */
export async function proveTenantKey(
  dataKeys: readonly Row<TenantDataKey>[],
  keyStore: KeyStore,
  tenant: string,
  signal: AbortSignal,
): Promise<void> {
  let problem: unknown;
  for (const { record } of dataKeys) {
    try {
      const { version, wrappedKey: bytes } = record;
      await keyStore.unwrap(tenant, { version, bytes }, signal);
      return;
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== "data_loss") throw error;
      problem ??= error;
    }
  }
  if (problem === undefined) return;
  const text = `the key of tenant ${tenant} does not decrypt the data keys that the tenant has; the keys are those of another deployment, or were replaced`;
  throw keysUnavailable(text, problem);
}

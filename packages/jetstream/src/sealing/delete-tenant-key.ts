import type { TenantDataKey } from "@reeve/contracts/sealing";
import type { Table } from "../table/port.ts";
import type { KeyAdmin } from "./key-store.ts";
import { storeTombstone } from "./tenant-tombstone.ts";

/**
 * Deletes the key of a tenant for good, and stores that it was deleted: services know it from then on, whatever the store of keys
 * answers, and also when a backup brings the key back. Repeating it after an interruption completes it.
 */
export async function deleteTenantKey(
  rows: Pick<Table<TenantDataKey>, "create">,
  keyStore: KeyAdmin,
  tenant: string,
  signal: AbortSignal,
): Promise<void> {
  await using _ = await keyStore.lock(tenant, signal);
  await storeTombstone(rows, tenant, signal);
  await keyStore.delete(tenant, signal);
}

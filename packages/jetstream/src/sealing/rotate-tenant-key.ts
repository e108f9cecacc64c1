import { create } from "@bufbuild/protobuf";
import type { TenantDataKey } from "@reeve/contracts/sealing";
import { TenantDataKeySchema } from "@reeve/contracts/sealing";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { Table } from "../table/port.ts";
import type { KeyAdmin, KeyStore } from "./key-store.ts";

/**
 * Gives a tenant a new version of its key, encrypts its data keys with it, and deletes the earlier versions. What was stored stays
 * readable. Returns the number of data keys. Repeating it after an interruption completes it.
 */
export async function rotateTenantKey(
  rows: Pick<Table<TenantDataKey>, "list" | "update">,
  keyStore: KeyStore & KeyAdmin,
  tenant: string,
  signal: AbortSignal,
): Promise<number> {
  await keyStore.rotate(tenant, signal);
  const listed = await rows.list(tenant, signal);
  for (const { key, record, revision } of listed) {
    const { version, wrappedKey } = record;
    const dataKey = await keyStore.unwrap(tenant, { version, bytes: wrappedKey }, signal);
    const wrapped = await keyStore.wrap(tenant, dataKey, signal);
    const renewed = { ...record, version: wrapped.version, wrappedKey: wrapped.bytes };
    const after = create(TenantDataKeySchema, renewed);
    if ((await rows.update(key, after, revision, signal)) === undefined) {
      const message = `the data key ${key} was changed by another process; rotate the key again`;
      throw new Failure("conflict", ErrorReason.REVISION_CONFLICT, message);
    }
  }
  await keyStore.retire(tenant, signal);
  return listed.length;
}

import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import type { TenantDataKey } from "@reeve/contracts/sealing";
import { TenantDataKeySchema } from "@reeve/contracts/sealing";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { Row, Table } from "../table/port.ts";
import { keyBytes } from "./aes-gcm.ts";
import type { KeyAdmin, KeyStore } from "./key-store.ts";
import { versionNumber } from "./key-store.ts";
import { proveTenantKey } from "./prove-tenant-key.ts";
import { listDataKeys } from "./tenant-tombstone.ts";

/** For how long a process may still create a data key that it has encrypted with the version before: longer than its requests take. */
export const settleMs = 15_000;
/** How often data keys are listed until none has an earlier version. */
const maxRounds = 4;

export interface RotationPorts {
  readonly rows: Pick<Table<TenantDataKey>, "list" | "update">;
  readonly keyStore: KeyStore & KeyAdmin;
  /** Resolves after `settleMs`. */
  settle(signal: AbortSignal): Promise<void>;
}

/**
 * Gives a tenant a new version of its key, encrypts its data keys with it, and deletes the earlier versions once no data key has one
 * of them, also not one that another process was about to create. What was stored stays readable. Returns the number of data keys.
 * Repeating it after an interruption completes it.
 */
export async function rotateTenantKey(
  ports: RotationPorts,
  tenant: string,
  signal: AbortSignal,
): Promise<number> {
  const { rows, keyStore } = ports;
  await using _ = await keyStore.lock(tenant, signal);
  await proveTenantKey(await listDataKeys(rows, tenant, signal), keyStore, tenant, signal);
  await keyStore.rotate(tenant, signal);
  const { version } = await keyStore.wrap(tenant, randomBytes(keyBytes), signal);
  for (let round = 1; round <= maxRounds; round++) {
    const listed = await listDataKeys(rows, tenant, signal);
    const older = listed.filter(
      ({ record }) => versionNumber(record.version) < versionNumber(version),
    );
    for (const row of older) await renew(row, ports, tenant, signal);
    if (older.length === 0 && round > 1) {
      await keyStore.retire(tenant, version, signal);
      return listed.length;
    }
    await ports.settle(signal);
  }
  const message = `data keys of tenant ${tenant} still get an earlier version of its key, so that version was kept; rotate the key again`;
  throw new Failure("conflict", ErrorReason.REVISION_CONFLICT, message);
}

/** Encrypts a data key with the current version. If another process changes it meanwhile, the next list shows how. */
async function renew(
  { key, record, revision }: Row<TenantDataKey>,
  { rows, keyStore }: RotationPorts,
  tenant: string,
  signal: AbortSignal,
): Promise<void> {
  const { version, wrappedKey } = record;
  const dataKey = await keyStore.unwrap(tenant, { version, bytes: wrappedKey }, signal);
  const wrapped = await keyStore.wrap(tenant, dataKey, signal);
  const renewed = { ...record, version: wrapped.version, wrappedKey: wrapped.bytes };
  await rows.update(key, create(TenantDataKeySchema, renewed), revision, signal);
}

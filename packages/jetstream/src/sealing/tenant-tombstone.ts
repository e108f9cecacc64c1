import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { bucketOf } from "@reeve/contracts/channel";
import type { TenantDataKey } from "@reeve/contracts/sealing";
import { TenantDataKeySchema } from "@reeve/contracts/sealing";
import type { Row, Table } from "../table/port.ts";
import { tenantKeyDeleted } from "./key-failures.ts";

/** The id of the row that says that the key of a tenant was deleted. No data key has this id. */
const tombstoneId = "deleted";

/** Returns the key of the row that says for good that the key of a tenant was deleted. */
export function tombstoneKeyOf(tenant: string): string {
  return bucketOf(TenantDataKeySchema).key({ tenant, key: tombstoneId });
}

/** Stores that the key of a tenant was deleted. Repeating it changes nothing. */
export async function storeTombstone(
  rows: Pick<Table<TenantDataKey>, "create">,
  tenant: string,
  signal: AbortSignal,
): Promise<void> {
  const createTime = timestampFromMs(Date.now());
  const record = create(TenantDataKeySchema, { version: tombstoneId, createTime });
  await rows.create(tombstoneKeyOf(tenant), record, signal);
}

/** Returns the data keys of a tenant, the newest first. Throws a Failure if the key of the tenant was deleted. */
export async function listDataKeys(
  rows: Pick<Table<TenantDataKey>, "list">,
  tenant: string,
  signal: AbortSignal,
): Promise<readonly Row<TenantDataKey>[]> {
  const listed = await rows.list(tenant, signal);
  const tombstone = tombstoneKeyOf(tenant);
  if (listed.some(({ key }) => key === tombstone)) throw tenantKeyDeleted(tenant);
  return listed.toSorted((a, b) => b.revision - a.revision);
}

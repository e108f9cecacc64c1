import type { NatsConnection } from "@nats-io/transport-node";
import { TenantDataKeySchema } from "@reeve/contracts/sealing";
import { openTable } from "../table/nats.ts";
import { payloadCipherOf } from "./payload-cipher.ts";
import { tombstoneKeyOf } from "./tenant-tombstone.ts";

/** Says whether `reeve tenants delete-key` has stored that the key of a tenant was deleted: nothing of it can come back. */
export type IsTenantDeleted = (tenant: string, signal: AbortSignal) => Promise<boolean>;

/** Reads from the store, at each call, which tenants were deleted. Without keys, none was. */
export async function openDeletedTenants(nats: {
  readonly connection: NatsConnection;
}): Promise<IsTenantDeleted> {
  if (!payloadCipherOf(nats.connection).isOn) return () => Promise.resolve(false);
  const rows = await openTable(nats, TenantDataKeySchema);
  return async (tenant, signal) => (await rows.get(tombstoneKeyOf(tenant), signal)) !== undefined;
}

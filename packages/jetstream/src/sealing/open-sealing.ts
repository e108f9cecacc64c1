import type { NatsConnection } from "@nats-io/transport-node";
import { TenantDataKeySchema } from "@reeve/contracts/sealing";
import { systemClock } from "@reeve/platform/async/clock";
import { openTable } from "../table/nats.ts";
import type { DataKeysOptions } from "./data-keys.ts";
import { DataKeys } from "./data-keys.ts";
import { openKeyStore } from "./open-key-store.ts";
import { payloadCipher, sealPayloads } from "./payload-cipher.ts";

/**
 * Seals everything that a process stores over a connection with the keys that REEVE_ENCRYPTION_KEYS names, if it is set. Call it before
 * anything else is opened on the connection. `mayCreate` says whether the process may create data keys.
 */
export async function openSealing(
  nats: { readonly connection: NatsConnection },
  { REEVE_ENCRYPTION_KEYS: path }: { readonly REEVE_ENCRYPTION_KEYS?: string | undefined },
  { mayCreate, log }: Pick<DataKeysOptions, "mayCreate" | "log">,
): Promise<void> {
  if (path === undefined) return;
  const keyStore = await openKeyStore(path);
  const rows = await openTable(nats, TenantDataKeySchema);
  const keys = new DataKeys({ rows, keyStore, clock: systemClock, mayCreate, log });
  sealPayloads(nats.connection, payloadCipher(keys, log));
}

/**
 * Returns the folder in which a service keeps the indexes of its lists. With keys, there is none: an index has what its rows
 * contain, and is then a temporary file that ends with the process.
 */
export function indexFolderOf(config: {
  readonly REEVE_ENCRYPTION_KEYS?: string | undefined;
  readonly REEVE_INDEX_DIR?: string | undefined;
}): string | undefined {
  return config.REEVE_ENCRYPTION_KEYS === undefined ? config.REEVE_INDEX_DIR : undefined;
}

import { TenantDataKeySchema } from "@reeve/contracts/sealing";
import { deleteTenantKey } from "@reeve/jetstream/sealing/delete-tenant-key";
import { openKeyStore } from "@reeve/jetstream/sealing/open-key-store";
import { rotateTenantKey, settleMs } from "@reeve/jetstream/sealing/rotate-tenant-key";
import { openTable } from "@reeve/jetstream/table/nats";
import { sleep } from "@reeve/platform/async/sleep";
import { readConfig } from "@reeve/platform/config";
import { connectNats, credentialsOf } from "@reeve/platform/nats/connect-nats";
import { commonSettings } from "@reeve/platform/process/settings";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { z } from "zod";
import type { Context } from "../../context.ts";
import { UsageError } from "../../exit-code.ts";

const settings = z.object(commonSettings);

/** Deletes the key of a tenant, if that is confirmed. */
export async function deleteKey(
  context: Context,
  tenant: string,
  isConfirmed: boolean,
): Promise<void> {
  const { terminal, signal } = context;
  const { keyStore, config } = await opened(context);
  if (!isConfirmed) {
    throw new UsageError(
      `without its key, the data of ${tenant} cannot be read any more, not even from a backup that has no keys; add --yes if that is what you want`,
    );
  }
  await using nats = await connected(config, signal);
  const rows = await openTable(nats, TenantDataKeySchema);
  await deleteTenantKey(rows, keyStore, tenant, signal);
  terminal.note(
    `deleted the key of ${tenant}; services stop using it within half a minute. Delete the backups of the key too\n`,
  );
}

/** Gives a tenant a new version of its key. */
export async function rotateKey(context: Context, tenant: string): Promise<void> {
  const { terminal, signal } = context;
  const { keyStore, config } = await opened(context);
  await using nats = await connected(config, signal);
  const rows = await openTable(nats, TenantDataKeySchema);
  const count = await rotateTenantKey({ rows, keyStore, settle }, tenant, signal);
  terminal.note(`rotated the key of ${tenant}; data keys: ${count}\n`);
}

function connected(config: z.infer<typeof settings>, signal: AbortSignal) {
  const log = createLogger("tenants", config.REEVE_LOG_LEVEL);
  const options = { name: "tenants", log, ...credentialsOf(config) };
  return connectNats(config.REEVE_NATS_URL, options, signal);
}

function settle(signal: AbortSignal): Promise<void> {
  return sleep(settleMs, signal);
}

async function opened({ environment }: Context) {
  const config = readConfig(settings, environment);
  const { REEVE_ENCRYPTION_KEYS: path } = config;
  if (path === undefined) {
    throw new UsageError(
      "set REEVE_ENCRYPTION_KEYS as in the services: it says where the keys are",
    );
  }
  return { config, keyStore: await openKeyStore(path) };
}

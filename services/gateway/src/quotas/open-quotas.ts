import { watchFile } from "@reeve/platform/process/watch-file";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { GatewayConfig } from "../config.ts";
import { parseQuotaFile } from "./quota-file.ts";
import type { Quota } from "./quota.ts";

/**
 * Returns the quotas that are in force: those of the file that the settings name, which is read again when it changes, or none.
 * Throws a Failure if the file cannot be used.
 */
export function openQuotas(
  { REEVE_QUOTAS_FILE: path }: Pick<GatewayConfig, "REEVE_QUOTAS_FILE">,
  log: Logger,
  resources: AsyncDisposableStack,
): () => readonly Quota[] {
  if (path === undefined) return () => [];
  const options = { setting: "REEVE_QUOTAS_FILE", noun: "quota file", parse: parseQuotaFile, log };
  const watched = resources.use(watchFile(path, options));
  return () => watched.current;
}

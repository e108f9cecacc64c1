import type { AuditLimits } from "@reeve/jetstream/audit/set-limits";
import { maxShards } from "@reeve/contracts/shard-of";
import { commonSettings } from "@reeve/platform/process/settings";
import { z } from "zod";

const pools = z
  .string()
  .regex(/^[A-Za-z0-9_-]+(,[A-Za-z0-9_-]+)*$/, "is not a comma-separated list of names")
  .transform((text) => text.split(","));

const dayMs = 86_400_000;

/** The environment variables that limit the audit trail. */
const auditLimits = {
  /** How many days an event of the audit trail is kept. */
  REEVE_AUDIT_MAX_DAYS: z.coerce.number().min(1).max(36_500).default(400),
  /** How many events of each tenant are kept; the oldest ones are removed. */
  REEVE_AUDIT_MAX_EVENTS: z.coerce.number().int().min(1_000).max(1_000_000_000).default(1_000_000),
};

export const auditLimitsConfig = z.object(auditLimits);

/** The environment variable with the number of streams over which the logs of runs are spread. A store keeps the first one. */
const runShards = {
  REEVE_RUN_SHARDS: z.coerce.number().int().min(1).max(maxShards).default(1),
};

export const runShardsConfig = z.object(runShards);

/** Returns how much of the audit trail is kept. */
export function auditLimitsOf(config: z.infer<typeof auditLimitsConfig>): AuditLimits {
  return {
    maxAgeMs: config.REEVE_AUDIT_MAX_DAYS * dayMs,
    maxEvents: config.REEVE_AUDIT_MAX_EVENTS,
  };
}

/** The environment variables of `reeve provision`. */
export const provisionConfig = z.object({
  ...commonSettings,
  ...auditLimits,
  /** Names of the toolhost pools. */
  REEVE_POOLS: pools.prefault("default"),
  /** Number of NATS servers that store each stream. */
  REEVE_STREAM_REPLICAS: z.coerce.number().int().min(1).max(5).default(1),
  ...runShards,
});

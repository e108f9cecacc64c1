import type { JetStreamAccountStats } from "@nats-io/jetstream";

/** What the server says about an account. */
export type AccountLimits = Pick<JetStreamAccountStats, "limits" | "tiers">;

/**
 * Returns how many bytes an account may store in files, in streams with so many replicas or, by default, in any of them. Undefined:
 * it has no limit.
 */
export function maxStorageOf(
  { limits, tiers }: AccountLimits,
  replicas?: number,
): number | undefined {
  const ofTiers = Object.entries(tiers ?? {})
    .filter(([name]) => replicas === undefined || name === `R${replicas}`)
    .flatMap(([, tier]) => tier?.limits ?? []);
  // A limit of 0 in an account with tiers means that each tier has its own.
  const applying = ofTiers.length > 0 ? ofTiers : [limits];
  return applying.map(({ max_storage }) => max_storage).find((bytes) => bytes > 0);
}

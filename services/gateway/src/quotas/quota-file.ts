import { z } from "zod";
import { subjectName, tenantName } from "../auth/names.ts";
import type { Quota } from "./quota.ts";
import { limitsRuns } from "./quota.ts";

const count = (max: number) => z.number().int().min(1).max(max).optional();

const quota = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "is not a name: a-z, 0-9, and -, at most 63 characters"),
    tenants: z
      .array(z.string().regex(tenantName, "is not the name of a tenant"))
      .min(1)
      .transform(setOf)
      .optional(),
    subjects: z
      .array(z.string().regex(subjectName, "is not the name of a subject"))
      .min(1)
      .transform(setOf)
      .optional(),
    per: z.enum(["tenant", "subject"]).default("tenant"),
    requests_per_second: z.number().positive().max(1_000_000).optional(),
    streams: count(1_000_000),
    open_runs: count(10_000),
    runs_per_day: count(100_000_000),
    queued_runs: count(10_000),
    cost_per_day_usd: z.number().positive().max(1_000_000_000).optional(),
    artifact_bytes: count(Number.MAX_SAFE_INTEGER),
    collection_bytes: count(Number.MAX_SAFE_INTEGER),
    documents: count(100_000_000),
  })
  .transform(
    ({
      requests_per_second,
      open_runs,
      runs_per_day,
      queued_runs,
      cost_per_day_usd,
      artifact_bytes,
      collection_bytes,
      ...rest
    }): Quota => ({
      ...rest,
      tenants: rest.tenants,
      subjects: rest.subjects,
      requestsPerSecond: requests_per_second,
      openRuns: open_runs,
      runsPerDay: runs_per_day,
      queuedRuns: queued_runs,
      costPerDayUsd: cost_per_day_usd,
      artifactBytes: artifact_bytes,
      collectionBytes: collection_bytes,
    }),
  )
  .refine((parsed) => {
    const { requestsPerSecond, streams, collectionBytes, documents } = parsed;
    const others = [requestsPerSecond, streams, collectionBytes, documents];
    return limitsRuns(parsed) || others.some((limit) => limit !== undefined);
  }, "limits nothing: it has none of requests_per_second, streams, open_runs, runs_per_day, queued_runs, cost_per_day_usd, artifact_bytes, collection_bytes, and documents");

/** The content of a file of quotas. */
export const quotaFileSchema = z.strictObject({
  quotas: z
    .array(quota)
    .max(1_000)
    .refine(
      (quotas) => new Set(quotas.map(({ name }) => name)).size === quotas.length,
      "has two quotas with the same name",
    ),
});

/** Parses a file of quotas. Throws an Error that lists all its mistakes, each with its path. */
export function parseQuotaFile(text: string): readonly Quota[] {
  const parsed = quotaFileSchema.safeParse(parseJson(text));
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error));
  return parsed.data.quotas;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error("is not JSON", { cause });
  }
}

function setOf(names: readonly string[]): ReadonlySet<string> {
  return new Set(names);
}

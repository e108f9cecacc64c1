import { commonSettings } from "@reeve/platform/process/settings";
import { z } from "zod";

const pools = z
  .string()
  .regex(/^[A-Za-z0-9_-]+(,[A-Za-z0-9_-]+)*$/, "is not a comma-separated list of names")
  .transform((text) => text.split(","));

/** The environment variables of `reeve provision`. */
export const provisionConfig = z.object({
  ...commonSettings,
  /** Names of the toolhost pools. */
  REEVE_POOLS: pools.prefault("default"),
  /** Number of NATS servers that store each stream. */
  REEVE_STREAM_REPLICAS: z.coerce.number().int().min(1).max(5).default(1),
});

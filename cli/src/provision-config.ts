import { commonSettings } from "@reeve/platform/process/settings";
import { z } from "zod";

const pools = z
  .string()
  .regex(/^[A-Za-z0-9_-]+(,[A-Za-z0-9_-]+)*$/, "is not a list of names with commas between them")
  .transform((text) => text.split(","));

/** The settings of `reeve provision`, from environment variables. */
export const provisionConfig = z.object({
  ...commonSettings,
  /** The pools of toolhosts. */
  REEVE_POOLS: pools.prefault("default"),
  /** How many NATS servers keep each stream. */
  REEVE_STREAM_REPLICAS: z.coerce.number().int().min(1).max(5).default(1),
});

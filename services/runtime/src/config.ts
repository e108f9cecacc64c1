import { providerSettings } from "@reeve/models/registry/provider-modules";
import { commonSettings, probeAddress } from "@reeve/platform/process/settings";
import { z } from "zod";

/** The settings of a runtime, from environment variables. */
export const runtimeConfig = z.object({
  ...commonSettings,
  /** The address for probes. */
  REEVE_RUNTIME_LISTEN: probeAddress,
  /** The maximum number of runs that this worker drives at a time. */
  REEVE_RUNTIME_CONCURRENCY: z.coerce.number().int().min(1).max(10_000).default(200),
  /** The time that model calls in progress have to finish when the worker shuts down, in milliseconds. */
  REEVE_DRAIN_MS: z.coerce.number().int().min(0).default(30_000),
  /** The file with the registry of models. */
  REEVE_MODELS: z.string().optional(),
  /** The file with the limits that no agent may exceed. */
  REEVE_LIMITS: z.string().optional(),
  ...providerSettings,
});

export type RuntimeConfig = z.infer<typeof runtimeConfig>;

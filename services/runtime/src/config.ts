import { providerSettings } from "@reeve/models/registry/provider-modules";
import { commonSettings, probeAddress } from "@reeve/platform/process/settings";
import { z } from "zod";
import { executorSettings } from "./executors/settings.ts";

/** The settings of a runtime, from environment variables. */
export const runtimeConfig = z.object({
  ...commonSettings,
  /** The address for probes. */
  REEVE_RUNTIME_LISTEN: probeAddress,
  /** The maximum number of runs that this worker drives at a time. */
  REEVE_RUNTIME_CONCURRENCY: z.coerce.number().int().min(1).max(10_000).default(200),
  /** The memory for the files of model requests that are in progress, in bytes; others wait. A file counts five times. Default: 256 MiB. */
  REEVE_RUNTIME_FILE_MEMORY_BYTES: z.coerce.number().int().min(1).default(268_435_456),
  /** The time that model calls in progress have to finish when the worker shuts down, in milliseconds. */
  REEVE_DRAIN_MS: z.coerce.number().int().min(0).default(30_000),
  /** The file with the registry of models. */
  REEVE_MODELS: z.string().optional(),
  /** The folder of the skills that agents may name, one folder each. It is read again when it changes. */
  REEVE_SKILLS: z.string().min(1).optional(),
  /** The file with the plugins of the operator, in YAML or JSON. Use the same file in all runtimes. Default: none. */
  REEVE_PLUGINS: z.string().min(1).optional(),
  /** The file with the agents elsewhere that this runtime may call, in YAML or JSON. Use the same file in all runtimes. Default: none. */
  REEVE_A2A_REMOTES: z.string().min(1).optional(),
  /** The file with the limits that no agent may exceed. */
  REEVE_LIMITS: z.string().optional(),
  /** The file with the operator's policy, which is read again when it changes. Use the same file in all gateways and runtimes. */
  REEVE_POLICY_FILE: z.string().min(1).optional(),
  /** How often a failed model call is repeated, unless its agent says otherwise. Default: 100. */
  REEVE_MODEL_RETRY_MAX: z.coerce.number().int().min(0).max(10_000).optional(),
  /** The time from the first failure of a model call to its last attempt, in milliseconds. Default: an hour. */
  REEVE_MODEL_RETRY_ELAPSED_MS: z.coerce.number().int().min(1).max(604_800_000).optional(),
  /** The delay before the second attempt of a model call, in milliseconds; it doubles. Default: 500. */
  REEVE_MODEL_RETRY_INITIAL_MS: z.coerce.number().int().min(1).max(3_600_000).optional(),
  /** The longest delay between two attempts of a model call, in milliseconds. Default: a minute. */
  REEVE_MODEL_RETRY_LONGEST_MS: z.coerce.number().int().min(1).max(3_600_000).optional(),
  ...executorSettings,
  ...providerSettings,
});

export type RuntimeConfig = z.infer<typeof runtimeConfig>;

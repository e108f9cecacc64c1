import { commonSettings, probeAddress } from "@reeve/platform/process/settings";
import { z } from "zod";

/** The settings of a runtime, from environment variables. */
export const runtimeConfig = z.object({
  ...commonSettings,
  /** Where probes are answered. */
  REEVE_RUNTIME_LISTEN: probeAddress,
  /** How many runs one worker drives at a time. */
  REEVE_RUNTIME_CONCURRENCY: z.coerce.number().int().min(1).max(10_000).default(200),
  /** How long a worker that ends listens to models that are speaking, in milliseconds. */
  REEVE_DRAIN_MS: z.coerce.number().int().min(0).default(30_000),
  /** File with the registry of models. */
  REEVE_MODELS: z.string().optional(),
  /** File with the limits that no agent may exceed. */
  REEVE_LIMITS: z.string().optional(),
  /** Folder with scripts for the scripted provider. */
  REEVE_SCRIPTS: z.string().optional(),
  OPENAI_API_KEY: z.string().optional(),
  OPENAI_BASE_URL: z.url().optional(),
  /** The model that the id `default` stands for when there is a key. */
  OPENAI_MODEL: z.string().optional(),
  /** The API by which OpenAI is called; default: `responses`, or `chat` when there is a base URL. */
  OPENAI_API: z.enum(["chat", "responses"]).optional(),
  /** How much of its reasoning a model tells over the Responses API; default: nothing. */
  OPENAI_REASONING_SUMMARY: z.enum(["auto", "concise", "detailed"]).optional(),
  ANTHROPIC_API_KEY: z.string().optional(),
  ANTHROPIC_BASE_URL: z.url().optional(),
  /** The model that the id `default` stands for when there is this key and none of OpenAI. */
  ANTHROPIC_MODEL: z.string().optional(),
  /** Has models of Anthropic think as much as they need and tell it; default: as each is used to. */
  ANTHROPIC_THINKING: z.enum(["adaptive"]).optional(),
});

export type RuntimeConfig = z.infer<typeof runtimeConfig>;

import type { z } from "zod";
import { anthropicModule } from "../anthropic/anthropic-module.ts";
import { openaiModule } from "../openai/openai-module.ts";
import { scriptedModule } from "../scripted/scripted-module.ts";

/**
 * All model providers, one line each. The first that is configured and has a default model supplies the model `default`.
 */
export const providerModules = [openaiModule, anthropicModule, scriptedModule] as const;

type Settings = Intersection<(typeof providerModules)[number]["settings"]>;

type Intersection<Union> = (Union extends unknown ? (member: Union) => void : never) extends (
  members: infer All,
) => void
  ? All
  : never;

/** The settings of all providers, for the schema of a service's settings. */
export const providerSettings = Object.assign(
  {},
  ...providerModules.map(({ settings }) => settings),
  // The type of `assign` does not describe a list of any length.
) as Settings;

/** The values of `providerSettings`. */
export type ProviderSettings = z.infer<z.ZodObject<Settings>>;

import type { ModelProvider } from "@reeve/engine/ports/model-provider";
import type { z } from "zod";

/** A kind of model provider: the settings that configure it, and how it is opened with them. */
export interface ProviderModule<Settings extends z.ZodRawShape> {
  /** The environment variables of the provider. */
  readonly settings: Settings;
  /** Opens the provider. Returns undefined when the settings do not configure it. Throws a Failure for unusable ones. */
  open(
    settings: z.infer<z.ZodObject<Settings>>,
    signal: AbortSignal,
  ): Promise<OpenedProvider | undefined>;
}

export interface OpenedProvider {
  readonly provider: ModelProvider;
  /** The provider's name of the model for the id `default`. Undefined: it has no default. */
  readonly defaultModel: string | undefined;
}

/** Declares a provider module; the compiler infers its settings. */
export function providerModule<Settings extends z.ZodRawShape>(
  module: ProviderModule<Settings>,
): ProviderModule<Settings> {
  return module;
}

import { z } from "zod";
import { connectionSettings } from "../registry/connection-settings.ts";
import { providerModule } from "../registry/provider-module.ts";
import { loadAnthropic } from "./anthropic-client.ts";
import { anthropicProvider } from "./anthropic-provider.ts";

const defaultModel = "claude-haiku-5-5";

/** The provider `anthropic`, configured by `ANTHROPIC_API_KEY`. */
export const anthropicModule = providerModule({
  settings: {
    ...connectionSettings,
    ANTHROPIC_API_KEY: z.string().optional(),
    ANTHROPIC_BASE_URL: z.url().optional(),
    /** The model for the id `default`, unless OpenAI is configured too. */
    ANTHROPIC_MODEL: z.string().optional(),
    /** `adaptive`: models think as much as they need, and show a summary. Default: as each model does by itself. */
    ANTHROPIC_THINKING: z.enum(["adaptive"]).optional(),
  },
  async open({
    ANTHROPIC_API_KEY: apiKey,
    ANTHROPIC_BASE_URL: baseUrl,
    ANTHROPIC_MODEL: model = defaultModel,
    ANTHROPIC_THINKING: thinking,
    REEVE_MODEL_IDLE_MS: idleTimeoutMs,
  }) {
    if (apiKey === undefined) return undefined;
    // The first run does not wait for it.
    await loadAnthropic();
    const provider = anthropicProvider({ apiKey, baseUrl, idleTimeoutMs, thinking });
    return { provider, defaultModel: model };
  },
});

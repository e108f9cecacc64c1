import type { ModelProvider } from "@reeve/engine/ports/model-provider";
import { z } from "zod";
import { chatProvider } from "../chat/chat-provider.ts";
import { connectionSettings } from "../registry/connection-settings.ts";
import { providerModule } from "../registry/provider-module.ts";
import { responsesProvider } from "../responses/responses-provider.ts";
import { loadOpenai } from "../wire/openai-client.ts";

const defaultModel = "gpt-5.4-mini";

const settings = {
  ...connectionSettings,
  OPENAI_API_KEY: z.string().optional(),
  OPENAI_BASE_URL: z.url().optional(),
  /** The model for the id `default`. */
  OPENAI_MODEL: z.string().optional(),
  /** The API to call. Default: `responses`, or `chat` with a base URL. */
  OPENAI_API: z.enum(["chat", "responses"]).optional(),
  /** The length of the reasoning summaries of the Responses API. Default: no summaries. */
  OPENAI_REASONING_SUMMARY: z.enum(["auto", "concise", "detailed"]).optional(),
};

type Settings = z.infer<z.ZodObject<typeof settings>>;

/** The provider `openai`, configured by `OPENAI_API_KEY`. */
export const openaiModule = providerModule({
  settings,
  async open(given) {
    const apiKey = given.OPENAI_API_KEY;
    if (apiKey === undefined) return undefined;
    // The first run does not wait for it.
    await loadOpenai();
    const provider = openaiProvider(apiKey, given);
    return { provider, defaultModel: given.OPENAI_MODEL ?? defaultModel };
  },
});

/**
 * Returns the provider for the API in the settings. By default, OpenAI itself is called over the Responses API, because its
 * newer models accept tools only there, and compatible servers over chat completions, because few support anything else.
 */
export function openaiProvider(apiKey: string, settings: Settings): ModelProvider {
  const { OPENAI_BASE_URL: baseUrl, OPENAI_REASONING_SUMMARY: reasoningSummary } = settings;
  const options = { apiKey, baseUrl, idleTimeoutMs: settings.REEVE_MODEL_IDLE_MS };
  const defaultApi = baseUrl === undefined ? "responses" : "chat";
  return (settings.OPENAI_API ?? defaultApi) === "chat"
    ? chatProvider(options)
    : responsesProvider({ ...options, reasoningSummary });
}

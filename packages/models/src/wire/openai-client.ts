import OpenAI from "openai";
import { dropEnvironmentHeaders } from "./drop-environment-headers.ts";
import { keepAliveFetch } from "./keep-alive-fetch.ts";
import type { ProviderOptions } from "./provider-options.ts";
import { defaultIdleTimeoutMs } from "./provider-options.ts";

/** The public address of OpenAI. */
export const openaiAddress = "https://api.openai.com/v1";

/** Creates a client of the OpenAI API that makes no retries. */
export function openaiClient({
  apiKey,
  baseUrl = openaiAddress,
  idleTimeoutMs = defaultIdleTimeoutMs,
  ignoresEnvironment = false,
}: ProviderOptions): OpenAI {
  const client = new OpenAI({
    apiKey,
    baseURL: baseUrl,
    maxRetries: 0,
    // Its log messages may contain prompts.
    logLevel: "off",
    fetch: keepAliveFetch(idleTimeoutMs),
    ...(ignoresEnvironment && { organization: null, project: null, adminAPIKey: null }),
  });
  if (ignoresEnvironment) dropEnvironmentHeaders(client);
  return client;
}

import OpenAI from "openai";
import { keepAliveFetch } from "./keep-alive-fetch.ts";
import type { ProviderOptions } from "./provider-options.ts";
import { defaultIdleTimeoutMs } from "./provider-options.ts";

/** A client that does what it is asked once: retrying is the caller's business. */
export function openaiClient({
  apiKey,
  baseUrl = "https://api.openai.com/v1",
  idleTimeoutMs = defaultIdleTimeoutMs,
}: ProviderOptions): OpenAI {
  return new OpenAI({
    apiKey,
    baseURL: baseUrl,
    maxRetries: 0,
    // Its words may hold prompts.
    logLevel: "off",
    fetch: keepAliveFetch(idleTimeoutMs),
  });
}

import type OpenAI from "openai";
import type * as Sdk from "openai";
import { dropEnvironmentHeaders } from "./drop-environment-headers.ts";
import { keepAliveFetch } from "./keep-alive-fetch.ts";
import type { SdkErrors } from "./provider-failures.ts";
import type { ProviderOptions } from "./provider-options.ts";
import { defaultIdleTimeoutMs } from "./provider-options.ts";

/** The public address of OpenAI. */
export const openaiAddress = "https://api.openai.com/v1";

let loaded: typeof Sdk | undefined;

/** Loads the SDK of OpenAI. It has hundreds of modules, so processes that do not call this API do without it. */
export async function loadOpenai(): Promise<typeof Sdk> {
  return (loaded ??= await import("openai"));
}

/** The errors of the SDK of OpenAI. Undefined: it was not loaded, and so has thrown none. */
export function openaiErrors(): SdkErrors | undefined {
  return loaded;
}

/**
 * Returns a function that returns a client of the OpenAI API, which makes no retries. The first call loads the SDK; if that fails, the
 * next call loads it again.
 */
export function openaiClient(options: ProviderOptions): () => Promise<OpenAI> {
  let client: OpenAI | undefined;
  return async () => {
    const sdk = await loadOpenai();
    return (client ??= newClient(sdk, options));
  };
}

function newClient(
  { OpenAI }: typeof Sdk,
  {
    apiKey,
    baseUrl = openaiAddress,
    idleTimeoutMs = defaultIdleTimeoutMs,
    ignoresEnvironment = false,
  }: ProviderOptions,
): OpenAI {
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

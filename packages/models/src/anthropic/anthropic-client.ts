import type Anthropic from "@anthropic-ai/sdk";
import type * as Sdk from "@anthropic-ai/sdk";
import { dropEnvironmentHeaders } from "../wire/drop-environment-headers.ts";
import { keepAliveFetch } from "../wire/keep-alive-fetch.ts";
import type { SdkErrors } from "../wire/provider-failures.ts";
import type { ProviderOptions } from "../wire/provider-options.ts";
import { defaultIdleTimeoutMs } from "../wire/provider-options.ts";

/** The public address of Anthropic. */
export const anthropicAddress = "https://api.anthropic.com";

let loaded: typeof Sdk | undefined;

/** Loads the SDK of Anthropic. It has hundreds of modules, so processes that do not call this API do without it. */
export async function loadAnthropic(): Promise<typeof Sdk> {
  return (loaded ??= await import("@anthropic-ai/sdk"));
}

/** The errors of the SDK of Anthropic. Undefined: it was not loaded, and so has thrown none. */
export function anthropicErrors(): SdkErrors | undefined {
  return loaded;
}

/**
 * Returns a function that returns a client of the API of Anthropic, which makes no retries. The first call loads the SDK; if that
 * fails, the next call loads it again.
 */
export function anthropicClient(options: ProviderOptions): () => Promise<Anthropic> {
  let client: Anthropic | undefined;
  return async () => {
    const sdk = await loadAnthropic();
    return (client ??= newClient(sdk, options));
  };
}

function newClient(
  { Anthropic }: typeof Sdk,
  {
    apiKey,
    baseUrl = anthropicAddress,
    idleTimeoutMs = defaultIdleTimeoutMs,
    ignoresEnvironment = false,
  }: ProviderOptions,
): Anthropic {
  const client = new Anthropic({
    apiKey,
    baseURL: baseUrl,
    maxRetries: 0,
    // Its log messages may contain prompts.
    logLevel: "off",
    openTelemetry: false,
    fetch: keepAliveFetch(idleTimeoutMs),
  });
  if (ignoresEnvironment) dropEnvironmentHeaders(client);
  return client;
}

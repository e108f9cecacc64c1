import process from "node:process";
import { ErrorReason } from "@reeve/contracts/error";
import type { ModelProvider } from "@reeve/engine/ports/model-provider";
import { anthropicProvider } from "@reeve/models/anthropic/anthropic-provider";
import { openaiProvider } from "@reeve/models/openai/openai-module";
import { Failure } from "@reeve/platform/failure";

/** The connection to a provider of models. */
export interface ProviderOptions {
  /** Default: the environment variable with the key, such as OPENAI_API_KEY. */
  readonly apiKey?: string;
  /** Default: the environment variable with the address, such as OPENAI_BASE_URL, or else the provider itself. */
  readonly baseUrl?: string;
}

/**
 * Returns the models of OpenAI, or of a server that speaks chat completions at `baseUrl`. An agent names one as
 * `openai:MODEL`. Throws a Failure if there is no key.
 */
export function openai(options: ProviderOptions = {}): ModelProvider {
  const { apiKey, baseUrl } = connectionOf("OPENAI", options);
  return openaiProvider(apiKey, { OPENAI_BASE_URL: baseUrl });
}

/** Returns the models of Anthropic. An agent names one as `anthropic:MODEL`. Throws a Failure if there is no key. */
export function anthropic(options: ProviderOptions = {}): ModelProvider {
  return anthropicProvider({ ...connectionOf("ANTHROPIC", options), thinking: undefined });
}

function connectionOf(prefix: "OPENAI" | "ANTHROPIC", options: ProviderOptions) {
  const apiKey = options.apiKey ?? process.env[`${prefix}_API_KEY`];
  if (apiKey === undefined || apiKey === "") {
    const message = `${prefix.toLowerCase()}() has no key: set ${prefix}_API_KEY, or pass apiKey`;
    throw new Failure("invalid", ErrorReason.INVALID_REQUEST, message);
  }
  const baseUrl = options.baseUrl ?? (process.env[`${prefix}_BASE_URL`] || undefined);
  return { apiKey, baseUrl };
}

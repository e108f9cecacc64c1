import { reservedProviders } from "@reeve/agent/registry/reserved-providers";
import type { ModelProvider } from "@reeve/engine/ports/model-provider";
import type { Environment } from "@reeve/platform/config";
import { z } from "zod";
import { loadAnthropic } from "../anthropic/anthropic-client.ts";
import { anthropicProvider } from "../anthropic/anthropic-provider.ts";
import { chatProvider } from "../chat/chat-provider.ts";
import { responsesProvider } from "../responses/responses-provider.ts";
import { loadOpenai } from "../wire/openai-client.ts";
import { withOwnFormat } from "./own-format.ts";
import { hasOneSource, keySource, readKey } from "./provider-key.ts";

/** The APIs that a server of the registry can speak. */
export const registeredApis = ["chat", "responses", "anthropic"] as const;

type RegisteredApi = (typeof registeredApis)[number];

/** A provider in the registry of models. */
export const registeredProviderSchema = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, "must have at most 32 lowercase letters, digits, and -")
      .refine(
        (name) => !reservedProviders.includes(name),
        `must not be ${reservedProviders.join(", ")}: settings of the runtimes configure them`,
      )
      .describe("First part of a reference `provider:model`."),
    api: z
      .enum(registeredApis)
      .default("chat")
      .describe(
        "The API that the server speaks: chat completions, the Responses API, or messages of Anthropic.",
      ),
    base_url: z
      .url({ protocol: /^https?$/, error: "must be an http or https URL" })
      .refine((url) => !hasCredentials(url), "must not contain credentials; use api_key")
      .describe(
        "Address of the API, for example https://example.org/v1. For the API of Anthropic without /v1.",
      ),
    ...keySource,
  })
  .refine(hasOneSource, { message: "has both api_key and api_key_file; keep one" });

export type RegisteredProvider = z.infer<typeof registeredProviderSchema>;

function hasCredentials(url: string): boolean {
  const parsed = URL.parse(url);
  return parsed !== null && (parsed.username !== "" || parsed.password !== "");
}

interface ConnectionSettings {
  readonly environment: Environment;
  readonly idleTimeoutMs?: number | undefined;
}

/** Opens a provider of the registry. Throws a Failure that names the provider if its key cannot be read. */
export async function openRegistered(
  { name, api, base_url: baseUrl, ...keys }: RegisteredProvider,
  { environment, idleTimeoutMs }: ConnectionSettings,
  signal: AbortSignal,
): Promise<ModelProvider> {
  const apiKey = await readKey(`provider ${name}`, keys, environment, signal);
  // The first run does not wait for it.
  await (api === "anthropic" ? loadAnthropic() : loadOpenai());
  return serverProvider({ name, api, baseUrl, apiKey, idleTimeoutMs });
}

/** A server that answers for models. */
interface ServerOptions {
  readonly name: string;
  readonly api: RegisteredApi;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly idleTimeoutMs?: number | undefined;
}

/** Creates a provider that calls a server with a format of its own. */
export function serverProvider({ api, ...server }: ServerOptions): ModelProvider {
  // Another vendor's server must not get the headers and ids of an account at OpenAI or Anthropic.
  const options = { ...server, ignoresEnvironment: true };
  switch (api) {
    case "chat":
      return withOwnFormat(chatProvider(options));
    case "responses":
      return withOwnFormat(responsesProvider(options));
    case "anthropic":
      return withOwnFormat(anthropicProvider(options));
  }
}

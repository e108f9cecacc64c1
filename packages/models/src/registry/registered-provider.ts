import { readFile } from "node:fs/promises";
import { ErrorReason } from "@reeve/contracts/error";
import type { ModelProvider } from "@reeve/engine/ports/model-provider";
import type { Environment } from "@reeve/platform/config";
import { Failure } from "@reeve/platform/failure";
import { processRedaction } from "@reeve/platform/telemetry/redaction/redaction";
import { z } from "zod";
import { anthropicProvider } from "../anthropic/anthropic-provider.ts";
import { chatProvider } from "../chat/chat-provider.ts";
import { responsesProvider } from "../responses/responses-provider.ts";
import { withOwnFormat } from "./own-format.ts";

/** Names that settings configure. Two providers with one name would hide each other. */
export const reservedNames: readonly string[] = ["openai", "anthropic", "scripted"];

/** A provider in the registry of models. */
export const registeredProviderSchema = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, "must have at most 32 lowercase letters, digits, and -")
      .refine(
        (name) => !reservedNames.includes(name),
        `must not be ${reservedNames.join(", ")}: environment variables configure them`,
      )
      .describe("First part of a reference `provider:model`."),
    api: z
      .enum(["chat", "responses", "anthropic"])
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
    api_key: z
      .string()
      .regex(
        /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/,
        "must be ${NAME}, with the name of an environment variable",
      )
      .optional()
      .describe("Environment variable with the key, as ${NAME}."),
    api_key_file: z.string().min(1).optional().describe("File with the key."),
  })
  .refine(({ api_key: key, api_key_file: file }) => key === undefined || file === undefined, {
    message: "has both api_key and api_key_file; keep one",
  });

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
  provider: RegisteredProvider,
  { environment, idleTimeoutMs }: ConnectionSettings,
  signal: AbortSignal,
): Promise<ModelProvider> {
  const { name, api, base_url: baseUrl } = provider;
  const apiKey = await keyOfProvider(provider, environment, signal);
  // Another vendor's server must not get the headers and ids of an account at OpenAI or Anthropic.
  const options = { name, apiKey, baseUrl, idleTimeoutMs, ignoresEnvironment: true };
  switch (api) {
    case "chat":
      return withOwnFormat(chatProvider(options));
    case "responses":
      return withOwnFormat(responsesProvider(options));
    case "anthropic":
      return withOwnFormat(anthropicProvider(options));
  }
}

/** Returns the key of a provider, or a text that stands for none. Throws a Failure that names the provider if it cannot be read. */
export async function keyOfProvider(
  {
    name,
    api_key: reference,
    api_key_file: file,
  }: Pick<RegisteredProvider, "name" | "api_key" | "api_key_file">,
  environment: Environment,
  signal: AbortSignal,
): Promise<string> {
  // Servers without keys ignore it, and the clients of both APIs require one.
  if (reference === undefined && file === undefined) return "none";
  const key =
    file === undefined
      ? environment[reference?.slice(2, -1) ?? ""]
      : await readFile(file, { encoding: "utf8", signal }).catch((cause: unknown) => {
          signal.throwIfAborted();
          throw invalid(name, `${file} cannot be read`, cause);
        });
  const trimmed = key?.trim() ?? "";
  if (trimmed === "") {
    throw invalid(
      name,
      file === undefined ? `the environment has no ${reference?.slice(2, -1)}` : `${file} is empty`,
    );
  }
  // The client's error for such a header would contain the key.
  if (!/^[\x21-\x7e]+$/.test(trimmed))
    throw invalid(name, "the key has characters that no key has");
  processRedaction.keep(trimmed);
  return trimmed;
}

function invalid(name: string, problem: string, cause?: unknown): Failure {
  const message = `REEVE_MODELS: provider ${name}: ${problem}`;
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { cause });
}

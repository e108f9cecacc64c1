import { readFile } from "node:fs/promises";
import { ErrorReason } from "@reeve/contracts/error";
import type { Embedder } from "@reeve/knowledge/vectors/embedder";
import { steadyClock } from "@reeve/platform/async/clock";
import type { Environment } from "@reeve/platform/config";
import { Failure } from "@reeve/platform/failure";
import type { ModelRegistry } from "../registry/model-registry.ts";
import { parseModelRegistry, providerViolations } from "../registry/model-registry.ts";
import { readSetting } from "../registry/read-setting.ts";
import { readKey } from "../registry/provider-key.ts";
import type { EmbeddingsSetting } from "./embeddings-setting.ts";
import { hashedEmbedder } from "./hashed-embedder.ts";
import { pausingEmbedder } from "./pausing-embedder.ts";

/** The settings that say which model embeds. */
export interface EmbedderSettings {
  /** The file with the registry of models. */
  readonly REEVE_MODELS?: string | undefined;
  readonly OPENAI_API_KEY?: string | undefined;
  readonly OPENAI_BASE_URL?: string | undefined;
  /** The variables that the file may name for keys. Default: none. */
  readonly environment?: Environment | undefined;
}

/**
 * Opens the model of embeddings that the registry of models names. Returns undefined if it names none. Throws a Failure for an unusable
 * file, an unknown provider, and a key that is missing.
 */
export async function openEmbedder(
  settings: EmbedderSettings,
  signal: AbortSignal,
): Promise<Embedder | undefined> {
  const registry = await readSetting("REEVE_MODELS", settings.REEVE_MODELS, async (path) =>
    parseModelRegistry(await readFile(path, { encoding: "utf8", signal }), path),
  );
  const setting = registry?.embeddings;
  if (registry === undefined || setting === undefined) return undefined;
  const [violation] = providerViolations({ ...registry, models: [] });
  if (violation !== undefined) throw invalid(violation.description);
  const embedder = await embedderOf(setting, registry, settings, signal);
  return pausingEmbedder(embedder, steadyClock);
}

async function embedderOf(
  { provider: name, ...setting }: EmbeddingsSetting,
  { providers }: ModelRegistry,
  { OPENAI_API_KEY: openaiKey, OPENAI_BASE_URL: openaiUrl, environment = {} }: EmbedderSettings,
  signal: AbortSignal,
): Promise<Embedder> {
  if (name === "scripted") return hashedEmbedder(setting.model);
  // Only processes with embeddings load the client.
  const { openaiEmbedder } = await import("./openai-embedder.ts");
  if (name === "openai") {
    if (openaiKey === undefined) throw invalid("the provider openai needs OPENAI_API_KEY here");
    return openaiEmbedder({ name, setting, apiKey: openaiKey, baseUrl: openaiUrl });
  }
  const named = providers.find((each) => each.name === name);
  if (named === undefined) throw invalid(`there is no provider ${name}`);
  const apiKey = await readKey(`provider ${name}`, named, environment, signal);
  return openaiEmbedder({
    name,
    setting,
    apiKey,
    baseUrl: named.base_url,
    // Another vendor's server must not get the headers and ids of an account at OpenAI.
    ignoresEnvironment: true,
  });
}

function invalid(problem: string): Failure {
  const message = `REEVE_MODELS: embeddings: ${problem}`;
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message);
}

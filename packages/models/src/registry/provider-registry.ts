import { readFile } from "node:fs/promises";
import { create } from "@bufbuild/protobuf";
import { parseLimitsFile } from "@reeve/agent/spec/limits";
import type { ModelCatalog, ModelSpec } from "@reeve/contracts/agent";
import { ModelCatalogSchema, ModelSpecSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { ModelProvider } from "@reeve/engine/ports/model-provider";
import { loadScripts } from "../scripted/load-scripts.ts";
import { parseModelRegistry } from "./model-registry.ts";
import { anthropicProvider } from "../anthropic/anthropic-provider.ts";
import { chatProvider } from "../chat/chat-provider.ts";
import { responsesProvider } from "../responses/responses-provider.ts";
import type { ReasoningSummary } from "../responses/responses-request.ts";
import type { Script } from "../scripted/script.ts";
import { scriptedProvider } from "../scripted/scripted-provider.ts";

/** The part of a runtime's settings that says which models there are. */
export interface ProviderSettings {
  /** Without a key there is no provider `openai`. */
  readonly OPENAI_API_KEY?: string | undefined;
  readonly OPENAI_BASE_URL?: string | undefined;
  readonly OPENAI_MODEL?: string | undefined;
  readonly OPENAI_API?: "chat" | "responses" | undefined;
  readonly OPENAI_REASONING_SUMMARY?: ReasoningSummary | undefined;
  /** Without a key there is no provider `anthropic`. */
  readonly ANTHROPIC_API_KEY?: string | undefined;
  readonly ANTHROPIC_BASE_URL?: string | undefined;
  readonly ANTHROPIC_MODEL?: string | undefined;
  readonly ANTHROPIC_THINKING?: "adaptive" | undefined;
  readonly REEVE_MODELS?: string | undefined;
  readonly REEVE_SCRIPTS?: string | undefined;
  readonly REEVE_LIMITS?: string | undefined;
}

export interface Providers {
  readonly byName: ReadonlyMap<string, ModelProvider>;
  readonly catalog: ModelCatalog;
}

/** What `default` stands for when there is a key and nobody says another model. */
const defaultModels = { openai: "gpt-5.4-mini", anthropic: "claude-haiku-5-5" };

/**
 * The providers and models that the settings ask for. The model `default` is the one of this id in the registry; else,
 * with a key of OpenAI, `OPENAI_MODEL`; else, with a key of Anthropic, `ANTHROPIC_MODEL`; else the script named `default`,
 * or the only script. Otherwise there is none. Throws a Failure with every problem of a file that cannot be used.
 */
export async function openProviders(
  settings: ProviderSettings,
  signal: AbortSignal,
): Promise<Providers> {
  const scripts = await readAt("REEVE_SCRIPTS", settings.REEVE_SCRIPTS, (path) =>
    loadScripts(path, signal),
  );
  const registered = await readAt("REEVE_MODELS", settings.REEVE_MODELS, async (path) =>
    parseModelRegistry(await readFile(path, { encoding: "utf8", signal }), path),
  );
  const [maxima] = await readAt("REEVE_LIMITS", settings.REEVE_LIMITS, async (path) => [
    parseLimitsFile(await readFile(path, { encoding: "utf8", signal }), path),
  ]);
  const providers = [
    ...keyedProviders(settings),
    ...(scripts.length === 0 ? [] : [scriptedProvider(scripts)]),
  ];
  return {
    byName: new Map(providers.map((provider) => [provider.descriptor.name, provider])),
    catalog: create(ModelCatalogSchema, {
      models: [...registered, ...defaultModel(settings, registered, scripts)],
      providers: providers.map(({ descriptor }) => descriptor),
      ...(maxima && { maxima }),
    }),
  };
}

function keyedProviders(settings: ProviderSettings): readonly ModelProvider[] {
  const { OPENAI_API_KEY: openaiKey, ANTHROPIC_API_KEY: anthropicKey } = settings;
  return [
    ...(openaiKey === undefined ? [] : [openaiProvider(openaiKey, settings)]),
    ...(anthropicKey === undefined
      ? []
      : [
          anthropicProvider({
            apiKey: anthropicKey,
            baseUrl: settings.ANTHROPIC_BASE_URL,
            thinking: settings.ANTHROPIC_THINKING,
          }),
        ]),
  ];
}

/**
 * OpenAI's newer models take tools only over the Responses API; of other servers most speak chat completions, and few the
 * other.
 */
function openaiProvider(apiKey: string, settings: ProviderSettings): ModelProvider {
  const { OPENAI_BASE_URL: baseUrl, OPENAI_REASONING_SUMMARY: reasoningSummary } = settings;
  const defaultApi = baseUrl === undefined ? "responses" : "chat";
  return (settings.OPENAI_API ?? defaultApi) === "chat"
    ? chatProvider({ apiKey, baseUrl })
    : responsesProvider({ apiKey, baseUrl, reasoningSummary });
}

function defaultModel(
  settings: ProviderSettings,
  registered: readonly ModelSpec[],
  scripts: readonly Script[],
): readonly ModelSpec[] {
  if (registered.some(({ id }) => id === "default")) return [];
  if (settings.OPENAI_API_KEY !== undefined) {
    const name = settings.OPENAI_MODEL ?? defaultModels.openai;
    return [knownModel("openai", name, registered)];
  }
  if (settings.ANTHROPIC_API_KEY !== undefined) {
    const name = settings.ANTHROPIC_MODEL ?? defaultModels.anthropic;
    return [knownModel("anthropic", name, registered)];
  }
  const script = scripts.length === 1 ? scripts[0] : scripts.find(({ name }) => name === "default");
  return script === undefined ? [] : [modelOf("scripted", script.name)];
}

/** What the registry knows of the same model, its window and its price, holds under the id `default` too. */
function knownModel(provider: string, name: string, registered: readonly ModelSpec[]): ModelSpec {
  const same = registered.find(
    (model) => model.provider === provider && (model.upstreamName === name || model.id === name),
  );
  return same === undefined ? modelOf(provider, name) : { ...same, id: "default" };
}

function modelOf(provider: string, upstreamName: string): ModelSpec {
  return create(ModelSpecSchema, { id: "default", provider, upstreamName, modalities: ["text"] });
}

/** What is read at a path that a setting gives. */
async function readAt<Value>(
  setting: keyof ProviderSettings,
  path: string | undefined,
  read: (path: string) => Promise<readonly Value[]>,
): Promise<readonly Value[]> {
  if (path === undefined) return [];
  try {
    return await read(path);
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
    const message = `${setting} names ${path}, which cannot be read: ${error.message}`;
    throw new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { cause: error });
  }
}

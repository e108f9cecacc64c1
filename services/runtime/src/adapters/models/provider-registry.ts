import { readFile } from "node:fs/promises";
import { create } from "@bufbuild/protobuf";
import { parseLimitsFile } from "@reeve/agent/limits";
import type { ModelCatalog, ModelSpec } from "@reeve/contracts/agent";
import { ModelCatalogSchema, ModelSpecSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { ModelProvider } from "../../ports/model-provider.ts";
import { loadScripts } from "./load-scripts.ts";
import { parseModelRegistry } from "./model-registry.ts";
import { openaiProvider } from "./openai-provider.ts";
import type { Script } from "./script.ts";
import { scriptedProvider } from "./scripted-provider.ts";

/** The part of a runtime's settings that says which models there are. */
export interface ProviderSettings {
  /** Without a key there is no provider `openai`. */
  readonly OPENAI_API_KEY?: string | undefined;
  readonly OPENAI_BASE_URL?: string | undefined;
  readonly OPENAI_MODEL?: string | undefined;
  readonly REEVE_MODELS?: string | undefined;
  readonly REEVE_SCRIPTS?: string | undefined;
  readonly REEVE_LIMITS?: string | undefined;
}

export interface Providers {
  readonly byName: ReadonlyMap<string, ModelProvider>;
  readonly catalog: ModelCatalog;
}

/** What `default` stands for when there is a key and nobody says another model. */
const defaultOpenaiModel = "gpt-5.4-mini";

/**
 * The providers and models that the settings ask for. The model `default` is the one of this id in the registry; else,
 * with a key, `OPENAI_MODEL`; else the script named `default`, or the only script. Otherwise there is none. Throws a
 * Failure with every problem of a file that cannot be used.
 */
export async function openProviders(
  settings: ProviderSettings,
  signal: AbortSignal,
): Promise<Providers> {
  const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseUrl, REEVE_SCRIPTS: folder } = settings;
  const scripts = await readAt("REEVE_SCRIPTS", folder, (path) => loadScripts(path, signal));
  const registered = await readAt("REEVE_MODELS", settings.REEVE_MODELS, async (path) =>
    parseModelRegistry(await readFile(path, { encoding: "utf8", signal }), path),
  );
  const [maxima] = await readAt("REEVE_LIMITS", settings.REEVE_LIMITS, async (path) => [
    parseLimitsFile(await readFile(path, { encoding: "utf8", signal }), path),
  ]);
  const providers = [
    ...(apiKey === undefined ? [] : [openaiProvider({ apiKey, baseUrl })]),
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

function defaultModel(
  settings: ProviderSettings,
  registered: readonly ModelSpec[],
  scripts: readonly Script[],
): readonly ModelSpec[] {
  if (registered.some(({ id }) => id === "default")) return [];
  if (settings.OPENAI_API_KEY !== undefined) {
    const name = settings.OPENAI_MODEL ?? defaultOpenaiModel;
    // What the registry knows of the same model, its window and its price, holds under this id too.
    const same = registered.find(
      ({ provider, upstreamName, id }) =>
        provider === "openai" && (upstreamName === name || id === name),
    );
    return [same === undefined ? modelOf("openai", name) : { ...same, id: "default" }];
  }
  const script = scripts.length === 1 ? scripts[0] : scripts.find(({ name }) => name === "default");
  return script === undefined ? [] : [modelOf("scripted", script.name)];
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

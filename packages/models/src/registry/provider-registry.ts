import { readFile } from "node:fs/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { withListPrice } from "@reeve/agent/resolve/list-price";
import { parseLimitsFile } from "@reeve/agent/spec/limits";
import type { ModelCatalog, ModelSpec, RetryPolicySchema } from "@reeve/contracts/agent";
import { ModelCatalogSchema, ModelSpecSchema } from "@reeve/contracts/agent";
import type { ModelProvider } from "@reeve/engine/ports/model-provider";
import type { Environment } from "@reeve/platform/config";
import { CollectedFailures, collected } from "@reeve/platform/process/collected-failures";
import { parseModelRegistry } from "./model-registry.ts";
import type { OpenedProvider } from "./provider-module.ts";
import type { ProviderSettings } from "./provider-modules.ts";
import { providerModules } from "./provider-modules.ts";
import { readSetting } from "./read-setting.ts";
import { openRegistered } from "./registered-provider.ts";
import { StoredProviders, storedProvidersSchema } from "./stored-providers.ts";

/** The settings that say which models exist. */
export interface RegistrySettings extends ProviderSettings {
  /** The file with the registry of models. */
  readonly REEVE_MODELS?: string | undefined;
  /** The variables that the registry of models may name for the keys of its providers. Default: none. */
  readonly environment?: Environment | undefined;
  /** The file with the limits that no agent may exceed. */
  readonly REEVE_LIMITS?: string | undefined;
  /** How failed model calls are repeated, for the fields that an agent does not set. */
  readonly REEVE_MODEL_RETRY_MAX?: number | undefined;
  readonly REEVE_MODEL_RETRY_ELAPSED_MS?: number | undefined;
  readonly REEVE_MODEL_RETRY_INITIAL_MS?: number | undefined;
  readonly REEVE_MODEL_RETRY_LONGEST_MS?: number | undefined;
}

export interface Providers {
  readonly byName: ReadonlyMap<string, ModelProvider>;
  readonly catalog: ModelCatalog;
  /** Opens the providers that are stored through the API. */
  readonly stored: StoredProviders;
}

/**
 * Opens the providers and models that the settings configure. The model `default` is the one with this id in the registry,
 * or else the default model of the first provider that has one. Throws a Failure with every problem of all files and keys.
 */
export async function openProviders(
  settings: RegistrySettings,
  signal: AbortSignal,
): Promise<Providers> {
  const failures = new CollectedFailures();
  const opened: OpenedProvider[] = [];
  for (const module of providerModules) {
    const provider = await failures.collect(() => module.open(settings, signal));
    if (provider !== undefined) opened.push(provider);
  }
  const readText = (path: string) => readFile(path, { encoding: "utf8", signal });
  const {
    providers: named,
    models: registered,
    storedProviders,
  } = (await failures.collect(() =>
    readSetting("REEVE_MODELS", settings.REEVE_MODELS, async (path) =>
      parseModelRegistry(await readText(path), path),
    ),
  )) ?? { providers: [], models: [], storedProviders: storedProvidersSchema.parse({}) };
  const connection = {
    environment: settings.environment ?? {},
    idleTimeoutMs: settings.REEVE_MODEL_IDLE_MS,
  };
  const further: ModelProvider[] = [];
  for (const each of named) {
    const provider = await failures.collect(() => openRegistered(each, connection, signal));
    if (provider !== undefined) further.push(provider);
  }
  const openedStored = await failures.collect(() =>
    StoredProviders.open(storedProviders, connection, signal),
  );
  const maxima = await failures.collect(() =>
    readSetting("REEVE_LIMITS", settings.REEVE_LIMITS, async (path) =>
      parseLimitsFile(await readText(path), path),
    ),
  );
  failures.assertNone();
  const stored = collected(openedStored);
  const providers = [...opened.map(({ provider }) => provider), ...further];
  const models = [...registered, ...defaultModel(opened, registered)];
  return {
    byName: new Map(providers.map((provider) => [provider.descriptor.name, provider])),
    stored,
    catalog: create(ModelCatalogSchema, {
      models: models.map((model) => {
        const { descriptor } =
          providers.find((each) => each.descriptor.name === model.provider) ?? {};
        return descriptor === undefined ? model : withListPrice(model, descriptor);
      }),
      providers: providers.map(({ descriptor }) => descriptor),
      ...(maxima && { maxima }),
      retry: retryDefaults(settings),
      nodeRegistry: true,
      storedProviders: stored.rules,
    }),
  };
}

/** Returns the settings that are set; the others have the defaults of every deployment. */
function retryDefaults(settings: RegistrySettings): MessageInitShape<typeof RetryPolicySchema> {
  const {
    REEVE_MODEL_RETRY_MAX: maxRetries,
    REEVE_MODEL_RETRY_ELAPSED_MS: elapsedMs,
    REEVE_MODEL_RETRY_INITIAL_MS: initialMs,
    REEVE_MODEL_RETRY_LONGEST_MS: longestMs,
  } = settings;
  return {
    ...(maxRetries !== undefined && { maxRetries }),
    ...(elapsedMs !== undefined && { maxElapsed: durationFromMs(elapsedMs) }),
    ...(initialMs !== undefined && { initialBackoff: durationFromMs(initialMs) }),
    ...(longestMs !== undefined && { maxBackoff: durationFromMs(longestMs) }),
  };
}

function defaultModel(
  opened: readonly OpenedProvider[],
  registered: readonly ModelSpec[],
): readonly ModelSpec[] {
  if (registered.some(({ id }) => id === "default")) return [];
  for (const { provider, defaultModel: name } of opened) {
    if (name !== undefined) return [specOf(provider.descriptor.name, name, registered)];
  }
  return [];
}

/** What the registry says of the same model, such as its window and its price, also applies to the id `default`. */
function specOf(
  provider: string,
  upstreamName: string,
  registered: readonly ModelSpec[],
): ModelSpec {
  const same = registered.find(
    (model) =>
      model.provider === provider &&
      (model.upstreamName === upstreamName || model.id === upstreamName),
  );
  return same === undefined
    ? create(ModelSpecSchema, { id: "default", provider, upstreamName, modalities: ["text"] })
    : { ...same, id: "default" };
}

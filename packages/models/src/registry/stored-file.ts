import { create } from "@bufbuild/protobuf";
import type { ModelSpec, ProviderSpec } from "@reeve/contracts/agent";
import { ProviderSpecSchema } from "@reeve/contracts/agent";
import { parseYamlFile } from "@reeve/platform/process/parse-yaml-file";
import { stringify } from "yaml";
import { z } from "zod";
import { fileModelOf } from "./file-model-of.ts";
import { modelOf, modelSchema } from "./model-registry.ts";
import { registeredApis } from "./registered-provider.ts";

/** The content of a file with models and providers that are to be stored. */
export const storedFileSchema = z.strictObject({
  providers: z
    .array(
      z.strictObject({
        name: z.string().min(1).describe("First part of a reference `provider:model`."),
        api: z.enum(registeredApis).default("chat").describe("The API that the server speaks."),
        base_url: z.string().min(1).describe("Address of the API, at a permitted origin."),
        secret: z
          .string()
          .default("")
          .describe("Name of the operator's secret. Default: without a key."),
      }),
    )
    .default([]),
  models: z.array(modelSchema).default([]),
});

/** What a file says that is to be stored. */
export interface StoredFile {
  readonly providers: readonly ProviderSpec[];
  readonly models: readonly ModelSpec[];
}

/**
 * Parses a file of models and providers that are to be stored. It has the format of REEVE_MODELS, with the name of a secret in the place
 * of a key. Throws a Failure with every problem of its shape.
 */
export function parseStoredFile(text: string, file: string): StoredFile {
  const { providers, models } = parseYamlFile(text, file, storedFileSchema);
  return {
    providers: providers.map(({ name: providerId, api, base_url: baseUrl, secret }) =>
      create(ProviderSpecSchema, { providerId, api, baseUrl, secret }),
    ),
    models: models.map(modelOf),
  };
}

/** Returns the text of a file that `parseStoredFile` reads as these models and providers. Without any, it has an empty list of models. */
export function renderStoredFile({ providers, models }: StoredFile): string {
  const hasModels = models.length > 0 || providers.length === 0;
  return stringify({
    ...(providers.length > 0 && {
      providers: providers.map(({ providerId: name, api, baseUrl, secret }) => ({
        name,
        ...(api !== "" && { api }),
        base_url: baseUrl,
        ...(secret !== "" && { secret }),
      })),
    }),
    // A file without any list is no file of models to `reeve apply`.
    ...(hasModels && { models: models.map(fileModelOf) }),
  });
}

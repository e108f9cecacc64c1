import { create } from "@bufbuild/protobuf";
import { apiOf } from "@reeve/agent/registry/composite-catalog";
import { isPermittedOrigin, originProblem } from "@reeve/agent/registry/permitted-origin";
import type { ProviderSpec, StoredProviderRules } from "@reeve/contracts/agent";
import { ProviderDescriptorSchema, StoredProviderRulesSchema } from "@reeve/contracts/agent";
import type { ModelProvider } from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import type { Environment } from "@reeve/platform/config";
import { z } from "zod";
import { hasOneSource, keySource, noKey, readKey } from "./provider-key.ts";
import { registeredApis, serverProvider } from "./registered-provider.ts";

const origins = z
  .array(
    z.string().superRefine((origin, context) => {
      const problem = originProblem(origin);
      if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
    }),
  )
  .max(100, "has more than 100 origins");

/** What providers that are stored through the API may use. */
export const storedProvidersSchema = z.strictObject({
  origins: origins
    .default([])
    .describe(
      "Origins at which stored providers may be reached, such as https://models.example.org, or https://*.example.org for any subdomain.",
    ),
  secrets: z
    .record(
      z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "must have lowercase letters, digits, and -"),
      z
        .strictObject({
          ...keySource,
          origins: origins
            .min(1, "must have an origin")
            .describe("Origins to which the key may be sent."),
        })
        .refine(hasOneSource, { message: "has both api_key and api_key_file; keep one" })
        .refine(({ api_key: key, api_key_file: file }) => key !== file, {
          message: "needs api_key or api_key_file",
        }),
    )
    .default({})
    .describe("Keys that stored providers may name."),
});

export type StoredProviderSettings = z.infer<typeof storedProvidersSchema>;

/** A key that stored providers may name. */
interface NamedKey {
  readonly key: string;
  readonly origins: readonly string[];
}

/** Opens providers that are stored through the API, as far as the operator's file permits it. */
export class StoredProviders {
  /** What a gateway checks when a provider is stored. Has no keys. */
  readonly rules: StoredProviderRules;
  readonly #keys: ReadonlyMap<string, NamedKey>;
  readonly #idleTimeoutMs: number | undefined;

  private constructor(
    permitted: readonly string[],
    keys: ReadonlyMap<string, NamedKey>,
    idleTimeoutMs: number | undefined,
  ) {
    this.#keys = keys;
    this.#idleTimeoutMs = idleTimeoutMs;
    this.rules = create(StoredProviderRulesSchema, {
      origins: [...permitted],
      secrets: [...keys].map(([name, each]) => ({ name, origins: [...each.origins] })),
      apis: registeredApis.map((api) => {
        // Only its description is used: no server has this address.
        const any = { name: api, api, baseUrl: "http://server.invalid", apiKey: noKey };
        return serverProvider(any).descriptor;
      }),
    });
  }

  /** Reads the keys. Throws a Failure that names a secret that cannot be read. */
  static async open(
    { origins: permitted, secrets }: StoredProviderSettings,
    connection: {
      readonly environment: Environment;
      readonly idleTimeoutMs?: number | undefined;
    },
    signal: AbortSignal,
  ): Promise<StoredProviders> {
    const keys = new Map<string, NamedKey>();
    for (const [name, { origins: places, ...source }] of Object.entries(secrets)) {
      const key = await readKey(`secret ${name}`, source, connection.environment, signal);
      keys.set(name, { key, origins: places });
    }
    return new StoredProviders(permitted, keys, connection.idleTimeoutMs);
  }

  /**
   * Returns a provider. Calls of one that this process may not reach, or whose secret it does not have, fail with the reason: another
   * runtime may have another file.
   */
  provider(spec: ProviderSpec): ModelProvider {
    const { providerId: name, baseUrl, secret } = spec;
    const api = registeredApis.find((each) => each === apiOf(spec));
    if (api === undefined) return unusable(name, `this runtime does not speak "${apiOf(spec)}"`);
    if (!isPermittedOrigin(baseUrl, this.rules.origins)) {
      return unusable(name, "the operator's file does not list its origin");
    }
    const named = this.#keys.get(secret);
    if (secret !== "" && named === undefined) {
      return unusable(name, `the operator's file has no secret "${secret}"`);
    }
    if (named !== undefined && !isPermittedOrigin(baseUrl, named.origins)) {
      return unusable(name, `the secret "${secret}" may not be sent to its origin`);
    }
    const apiKey = named?.key ?? noKey;
    return serverProvider({ name, api, baseUrl, apiKey, idleTimeoutMs: this.#idleTimeoutMs });
  }
}

/** Returns a provider whose calls fail. */
function unusable(name: string, problem: string): ModelProvider {
  const message = `the stored provider ${name} cannot be used: ${problem}; change it, or the section stored_providers of REEVE_MODELS`;
  // oxlint-disable-next-line require-yield -- it has nothing to yield.
  async function* failing() {
    throw new ModelFailure("not_configured", message);
  }
  return {
    descriptor: create(ProviderDescriptorSchema, { name, isStored: true }),
    format: `unusable/${name}`,
    stream: failing,
    media: { generate: failing },
  };
}

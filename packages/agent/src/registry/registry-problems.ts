import type {
  LongRequestPricing,
  ModelCatalog,
  ModelSpec,
  Pricing,
  ProviderSpec,
  StoredProviderRules,
} from "@reeve/contracts/agent";
import { allModalities } from "@reeve/contracts/content/media";
import type { Violation } from "@reeve/platform/failure";
import { isMediaKind, mediaKinds } from "../media/media-kinds.ts";
import { apiOf } from "./composite-catalog.ts";
import { isPermittedOrigin } from "./permitted-origin.ts";
import { reservedProviders } from "./reserved-providers.ts";

const modelId = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}$/;
const maxNameBytes = 256;
const maxCutoff = 64;
const maxLongRequests = 16;
/** The maximum number of partial images, as providers limit it. */
const maxPartialImages = 3;

/**
 * Returns what is wrong with a provider that is to be stored, given the local catalog. That the runtimes know its secret and its origin
 * is checked here, so that no caller reaches a server that the operator has not named.
 */
export function providerProblems(
  spec: ProviderSpec,
  local: Pick<ModelCatalog, "storedProviders">,
  field: string,
): readonly Violation[] {
  const found: Violation[] = [];
  const add = (name: string, reason: string, description: string) =>
    found.push({ field: `${field}.${name}`, description, reason });
  const { providerId, baseUrl, secret } = spec;
  if (reservedProviders.includes(providerId)) {
    const names = reservedProviders.join(", ");
    add("provider_id", "RESERVED", `must not be ${names}: settings of the runtimes configure them`);
  }
  const rules = local.storedProviders;
  if (rules === undefined) {
    add("provider_id", "RUNTIME_OUTDATED", "the runtimes use no stored providers: update them");
    return found;
  }
  const url = URL.parse(baseUrl);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    add("base_url", "INVALID_URL", "must be an http or https URL");
  } else if (url.username + url.password + url.search + url.hash !== "") {
    add("base_url", "INVALID_URL", "must have no credentials, query, and fragment");
  } else if (!isPermittedOrigin(baseUrl, rules.origins)) {
    add("base_url", "ORIGIN_NOT_PERMITTED", originText(url.origin, rules));
  } else if (secret !== "") {
    const known = rules.secrets.find(({ name }) => name === secret);
    const names = rules.secrets.map(({ name }) => name).join(", ") || "none";
    if (known === undefined) {
      add("secret", "SECRET_NOT_FOUND", `the operator has no secret "${secret}"; it has: ${names}`);
    } else if (!isPermittedOrigin(baseUrl, known.origins)) {
      const places = known.origins.join(", ");
      const text = `the secret "${secret}" may be sent to ${places} only, not to ${url.origin}`;
      add("secret", "ORIGIN_NOT_PERMITTED", text);
    }
  }
  if (!rules.apis.some(({ name }) => name === apiOf(spec))) {
    add("api", "RUNTIME_OUTDATED", `the runtimes do not speak "${apiOf(spec)}"`);
  }
  return found;
}

function originText(origin: string, { origins }: Pick<StoredProviderRules, "origins">): string {
  const listed = origins.length === 0 ? "none is listed" : `listed are: ${origins.join(", ")}`;
  return `${origin} is not permitted: the operator lists origins under stored_providers in the file of REEVE_MODELS (${listed})`;
}

/** Returns what is wrong with a model that is to be stored. `providers` has the names of all that it can name. */
export function modelProblems(
  spec: ModelSpec,
  providers: readonly string[],
  field: string,
): readonly Violation[] {
  const found: Violation[] = [];
  const add = (name: string, reason: string, description: string) =>
    found.push({ field: `${field}.${name}`, description, reason });
  if (!modelId.test(spec.id)) {
    add("id", "INVALID_ID", "must have 1 to 63 letters, digits, ., _, and -");
  }
  if (!providers.includes(spec.provider)) {
    const names = providers.join(", ") || "none";
    add("provider", "PROVIDER_NOT_FOUND", `"${spec.provider}" does not exist; there are: ${names}`);
  }
  if (Buffer.byteLength(spec.upstreamName) > maxNameBytes) {
    add("upstream_name", "TOO_LONG", `must have at most ${maxNameBytes} bytes`);
  }
  if (spec.knowledgeCutoff.length > maxCutoff) {
    add("knowledge_cutoff", "TOO_LONG", `must have at most ${maxCutoff} characters`);
  }
  const known: readonly string[] = allModalities;
  for (const [index, each] of spec.modalities.entries()) {
    if (!known.includes(each)) {
      add(`modalities[${index}]`, "UNKNOWN_MODALITY", `must be one of ${known.join(", ")}`);
    }
  }
  if (spec.modalities.length > known.length) {
    add("modalities", "TOO_MANY", `must have at most ${known.length} entries`);
  }
  for (const [index, each] of spec.generates.entries()) {
    if (isMediaKind(each)) continue;
    add(`generates[${index}]`, "UNKNOWN_MEDIA", `must be one of ${mediaKinds.join(", ")}`);
  }
  if (spec.generates.length > mediaKinds.length) {
    add("generates", "TOO_MANY", `must have at most ${mediaKinds.length} entries`);
  }
  if (spec.partialImages > maxPartialImages) {
    add("partial_images", "TOO_LARGE", `must be at most ${maxPartialImages}`);
  }
  if (spec.pricing !== undefined) found.push(...pricingProblems(spec.pricing, `${field}.pricing`));
  return found;
}

function pricingProblems(pricing: Pricing, field: string): readonly Violation[] {
  const { source, asOf, longRequests } = pricing;
  const found: Violation[] = [
    ...priceProblems(pricesOf(pricing), field),
    ...priceProblems(
      {
        usd_per_image: pricing.usdPerImage ?? 0,
        usd_per_million_characters: pricing.usdPerMillionCharacters ?? 0,
      },
      field,
    ),
  ];
  if (source + asOf !== "") {
    const description = "source and as_of belong to built-in prices; leave them out";
    found.push({ field, description, reason: "BUILT_IN_ONLY" });
  }
  if (longRequests.length > maxLongRequests) {
    const description = `must have at most ${maxLongRequests} entries`;
    found.push({ field: `${field}.long_requests`, description, reason: "TOO_MANY" });
  }
  let before = 0;
  for (const [index, each] of longRequests.entries()) {
    const path = `${field}.long_requests[${index}]`;
    if (each.aboveInputTokens <= before) {
      const description = "must be positive, and greater than that of the entry before";
      found.push({ field: `${path}.above_input_tokens`, description, reason: "NOT_ASCENDING" });
    }
    before = each.aboveInputTokens;
    found.push(...priceProblems(pricesOf(each), path));
  }
  return found;
}

function pricesOf(prices: Pricing | LongRequestPricing): Readonly<Record<string, number>> {
  return {
    input_usd_per_million: prices.inputUsdPerMillion,
    output_usd_per_million: prices.outputUsdPerMillion,
    cached_input_usd_per_million: prices.cachedInputUsdPerMillion ?? 0,
    cache_write_input_usd_per_million: prices.cacheWriteInputUsdPerMillion ?? 0,
  };
}

/** A price that is negative or no number would break the cost cap of every agent. */
function priceProblems(
  prices: Readonly<Record<string, number>>,
  field: string,
): readonly Violation[] {
  return Object.entries(prices).flatMap(([name, price]) =>
    Number.isFinite(price) && price >= 0
      ? []
      : [
          {
            field: `${field}.${name}`,
            description: "must be a number that is not negative",
            reason: "INVALID_PRICE",
          },
        ],
  );
}

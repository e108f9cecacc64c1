import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { MatchLogic, ModelInfo, ModelPrice, Provider } from "@pydantic/genai-prices";
import { calcPrice, findProvider } from "@pydantic/genai-prices";
import type {
  LongRequestPricingSchema,
  ModelSpec,
  ProviderDescriptor,
} from "@reeve/contracts/agent";
import { PricingSchema } from "@reeve/contracts/agent";

/** The package with the list prices, and the day of its release. A test compares the version with the installed one. */
export const priceSource = { name: "genai-prices", version: "0.1.8", date: "2026-09-23" } as const;

/** Returns the model with its list price, unless the operator's registry has a price of it, or none is built in. */
export function withListPrice(model: ModelSpec, { priceList }: ProviderDescriptor): ModelSpec {
  if (model.pricing !== undefined) return model;
  const pricing = listPrice(priceList, model.upstreamName);
  return pricing === undefined ? model : { ...model, pricing: create(PricingSchema, pricing) };
}

/**
 * Returns the list price of a vendor's model on the day of the source: the same answer on every host and at any time. Undefined:
 * the source does not know the model by exactly this name, or its price has parts that `Pricing` cannot express, such as a price
 * of audio. Only a date or `latest` may follow a known name, because a name with any other suffix is another model.
 */
export function listPrice(
  priceList: string,
  upstreamName: string,
): MessageInitShape<typeof PricingSchema> | undefined {
  const vendor = priceList === "" ? undefined : findProvider({ providerId: priceList });
  if (vendor === undefined) return undefined;
  const found = currentPrice(vendor, upstreamName);
  if (found === undefined || !isNamed(found.model, upstreamName)) return undefined;
  if (!Object.keys(found.price).every((key) => expressible.has(key))) return undefined;
  const base = pricesAbove(found.price, 0);
  if (base === undefined) return undefined;
  const longRequests = tierStarts(found.price).flatMap((start) => {
    const prices = pricesAbove(found.price, start);
    return prices === undefined ? [] : [{ aboveInputTokens: start, ...prices }];
  });
  const { name, version, date } = priceSource;
  return { ...base, longRequests, source: `${name} ${version}`, asOf: date };
}

/** Prices that `Pricing` expresses, and those of what no request asks for: the cache for an hour, and tools of the vendor. */
const expressible: ReadonlySet<string> = new Set([
  "input_mtok",
  "output_mtok",
  "cache_read_mtok",
  "cache_write_mtok",
  "cache_write_1h_mtok",
  "web_searches_kcount",
  "storage_searches_kcount",
]);

function currentPrice(provider: Provider, modelId: string) {
  const timestamp = new Date(`${priceSource.date}T00:00:00Z`);
  const found = calcPrice({}, modelId, { provider, timestamp });
  return found === null ? undefined : { model: found.model, price: found.model_price };
}

function isNamed({ id, match }: ModelInfo, name: string): boolean {
  const undated = name.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, "");
  const known = new Set([id, ...namesIn(match)]);
  return known.has(name) || known.has(undated);
}

function namesIn(match: MatchLogic): readonly string[] {
  if ("or" in match) return match.or.flatMap(namesIn);
  if ("equals" in match) return [match.equals];
  return "starts_with" in match ? [match.starts_with] : [];
}

function tierStarts(price: ModelPrice): readonly number[] {
  const starts = Object.values(price).flatMap((each) =>
    typeof each === "object" ? each.tiers.map(({ start }) => start) : [],
  );
  return [...new Set(starts)].toSorted((a, b) => a - b);
}

/** Returns the prices of a call with more than `tokens` input tokens, of which the cache charges writes only if the vendor does. */
function pricesAbove(
  price: ModelPrice,
  tokens: number,
): Omit<MessageInitShape<typeof LongRequestPricingSchema>, "$typeName"> | undefined {
  const at = (key: string) => priceAbove(price[key], tokens);
  const input = at("input_mtok");
  const output = at("output_mtok");
  if (input === undefined || output === undefined) return undefined;
  return {
    inputUsdPerMillion: input,
    outputUsdPerMillion: output,
    cachedInputUsdPerMillion: at("cache_read_mtok") ?? input,
    cacheWriteInputUsdPerMillion: at("cache_write_mtok") ?? input,
  };
}

function priceAbove(price: ModelPrice[string], tokens: number): number | undefined {
  if (typeof price !== "object") return price;
  return price.tiers.findLast(({ start }) => start <= tokens)?.price ?? price.base;
}

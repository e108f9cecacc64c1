import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { create } from "@bufbuild/protobuf";
import { ModelCatalogSchema } from "@reeve/contracts/agent";
import { findProvider } from "@pydantic/genai-prices";
import { describe, expect, test } from "vitest";
import { listPrice, priceSource } from "./list-price.ts";
import { resolveModel } from "./resolve-model.ts";

const source = { source: "genai-prices 0.1.8", asOf: "2026-09-23" };

// The date is not in the package. Update it together with the version: `npm view @pydantic/genai-prices time`.
test("the date of the prices belongs to the installed version of their source", async () => {
  const entry = fileURLToPath(import.meta.resolve("@pydantic/genai-prices"));
  const manifest: unknown = JSON.parse(
    await readFile(`${entry.replace(/\/dist\/.*$/, "")}/package.json`, "utf8"),
  );
  expect(manifest).toMatchObject({ version: priceSource.version });
});

describe("the list price of a model", () => {
  test.each([
    ["openai", "gpt-5.4-mini", { inputUsdPerMillion: 0.75, outputUsdPerMillion: 4.5 }],
    ["openai", "gpt-5.4-mini-2026-03-17", { cachedInputUsdPerMillion: 0.075 }],
    [
      "anthropic",
      "claude-haiku-4-5",
      { inputUsdPerMillion: 1, cacheWriteInputUsdPerMillion: 1.25 },
    ],
    ["anthropic", "claude-haiku-4-5-20251001", { outputUsdPerMillion: 5 }],
  ])("is known for %s:%s, with source and date", (vendor, name, expected) => {
    expect(listPrice(vendor, name)).toMatchObject({ ...expected, ...source, longRequests: [] });
  });

  test("is another one for long requests, if the vendor has such prices", () => {
    expect(listPrice("openai", "gpt-5.4")).toMatchObject({
      inputUsdPerMillion: 2.5,
      longRequests: [
        { aboveInputTokens: 271_999, inputUsdPerMillion: 5, outputUsdPerMillion: 22.5 },
      ],
    });
  });

  test("is the one on the date of the source, if it changed before", () => {
    expect(listPrice("openai", "o3")).toMatchObject({ inputUsdPerMillion: 2 });
    expect(listPrice("anthropic", "claude-opus-4-6")).toMatchObject({ longRequests: [] });
  });

  test("does not charge for writes to the cache more than for input, if the vendor does not", () => {
    expect(listPrice("openai", "gpt-4o")).toMatchObject({
      inputUsdPerMillion: 2.5,
      cacheWriteInputUsdPerMillion: 2.5,
    });
  });

  test.each([
    ["of an unknown name", "openai", "gpt-99"],
    ["of a name that only begins like a known one", "anthropic", "claude-sonnet-5-5"],
    ["of a name that is also a property of objects", "openai", "constructor"],
    ["of a model whose audio has another price", "openai", "gpt-audio"],
    ["of a model without a price of answers", "openai", "text-embedding-3-small"],
    ["of a server that is not the vendor", "", "gpt-5.4-mini"],
    ["of a vendor that does not exist", "nobody", "gpt-5.4-mini"],
  ])("is unknown %s", (_, vendor, name) => {
    expect(listPrice(vendor, name)).toBeUndefined();
  });

  test("is finite and not negative for every model of the source, or unknown", () => {
    const known = ["openai", "anthropic"].flatMap((vendor) =>
      (findProvider({ providerId: vendor })?.models ?? []).map(({ id }) => listPrice(vendor, id)),
    );
    const prices = known.flatMap((price) => (price === undefined ? [] : [price]));
    expect(prices.length).toBeGreaterThan(60);
    for (const price of prices.flatMap((each) => [each, ...(each.longRequests ?? [])])) {
      const { inputUsdPerMillion: input, outputUsdPerMillion: output } = price;
      for (const usd of [
        input,
        output,
        price.cachedInputUsdPerMillion,
        price.cacheWriteInputUsdPerMillion,
      ]) {
        expect(usd).toBeGreaterThanOrEqual(0);
        expect(usd).toBeLessThan(1_000);
      }
    }
  });
});

describe("a resolved model", () => {
  const own = { inputUsdPerMillion: 9, outputUsdPerMillion: 9 };
  const catalog = create(ModelCatalogSchema, {
    models: [
      { id: "own", provider: "openai", upstreamName: "gpt-4o", pricing: own },
      { id: "free", provider: "proxy", upstreamName: "gpt-4o" },
      { id: "bare", provider: "openai", upstreamName: "gpt-4.1" },
    ],
    providers: [{ name: "openai", priceList: "openai" }, { name: "proxy" }],
  });
  const pricingOf = (model: string) => resolveModel({ model }, catalog).model.pricing;

  test("has the operator's price, even if a list price is built in", () => {
    expect(pricingOf("own")).toMatchObject({ ...own, source: "" });
    expect(pricingOf("openai:gpt-4o")).toMatchObject(own);
  });

  test("has the list price, if the operator gives none", () => {
    expect(pricingOf("bare")).toMatchObject({ inputUsdPerMillion: 2, ...source });
    expect(pricingOf("openai:gpt-5.4-mini")).toMatchObject({ inputUsdPerMillion: 0.75, ...source });
  });

  test("has no list price at a server that is not the vendor", () => {
    expect(pricingOf("free")).toBeUndefined();
    expect(pricingOf("proxy:gpt-5.4-mini")).toBeUndefined();
  });
});

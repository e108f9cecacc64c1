import { create, ScalarType } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import {
  LongRequestPricingSchema,
  ModelCatalogSchema,
  ModelSpecSchema,
  PricingSchema,
  ProviderSpecSchema,
} from "@reeve/contracts/agent";
import { expect, test } from "vitest";
import type { ResolvedAgent } from "../resolve/resolved-agent.ts";
import { callsStoredModels } from "./calls-stored-models.ts";
import { modelProblems, providerProblems } from "./registry-problems.ts";
import { reservedProviders } from "./reserved-providers.ts";

const painter = { id: "painter", provider: "lab", generates: ["image"] };

function problemsOf(model: object) {
  const spec = create(ModelSpecSchema, { ...painter, ...model });
  return modelProblems(spec, ["lab"], "model").map(({ field, reason }) => `${field} ${reason}`);
}

/** The prices of a message, each of which decides on the cost of a run. */
const pricesOf = (schema: typeof PricingSchema | typeof LongRequestPricingSchema) =>
  schema.fields.filter(({ scalar }) => scalar === ScalarType.DOUBLE);

// Requirement: TURN-4
test("every price of a stored model is a number that is not negative", () => {
  for (const price of [-5, NaN, Infinity]) {
    for (const field of pricesOf(PricingSchema)) {
      const pricing = create(PricingSchema);
      reflect(PricingSchema, pricing).set(field, price);
      expect(problemsOf({ pricing })).toEqual([`model.pricing.${field.name} INVALID_PRICE`]);
    }
    for (const field of pricesOf(LongRequestPricingSchema)) {
      const long = create(LongRequestPricingSchema, { aboveInputTokens: 1 });
      reflect(LongRequestPricingSchema, long).set(field, price);
      expect(problemsOf({ pricing: { longRequests: [long] } })).toEqual([
        `model.pricing.long_requests[0].${field.name} INVALID_PRICE`,
      ]);
    }
  }
  expect(problemsOf({ pricing: { usdPerImage: 0.04 } })).toEqual([]);
});

test("a stored model generates known media, and at most three partial images", () => {
  expect(problemsOf({ generates: ["image", "video"], partialImages: 4_000_000_000 })).toEqual([
    "model.generates[1] UNKNOWN_MEDIA",
    "model.partial_images TOO_LARGE",
  ]);
  expect(problemsOf({ generates: ["image", "speech"], partialImages: 3 })).toEqual([]);
});

// Requirement: RES-2
test("a stored provider has no name that something else of the runtimes has", () => {
  expect(reservedProviders).toContain("a2a");
  const local = create(ModelCatalogSchema, {
    storedProviders: { origins: ["https://models.example.org"], apis: [{ name: "chat" }] },
  });
  for (const providerId of reservedProviders) {
    const spec = create(ProviderSpecSchema, {
      providerId,
      baseUrl: "https://models.example.org/v1",
    });
    expect(providerProblems(spec, local, "provider")).toMatchObject([
      { field: "provider.provider_id", reason: "RESERVED" },
    ]);
  }
});

/** Returns an agent that a model paints for. Only what names models is read. */
function paintedBy(isStored: boolean): ResolvedAgent {
  const model = create(ModelSpecSchema, { ...painter, isStored });
  const none = { fallbacks: [], guardModels: [], delegates: [] };
  return { ...none, media: new Map([["image", { model, provider: {} }]]) } as never;
}

test("an agent whose media a stored model generates calls a stored model", () => {
  expect([true, false].map((each) => callsStoredModels(paintedBy(each)))).toEqual([true, false]);
});

import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { ModelCatalogSchema, ModelRegistrySchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { expect, test } from "vitest";
import { resolveModel } from "../resolve/resolve-model.ts";
import { compositeCatalog, shadowedEntries } from "./composite-catalog.ts";

const local = create(ModelCatalogSchema, {
  models: [{ id: "fast", provider: "openai", upstreamName: "gpt" }],
  providers: [{ name: "openai" }, { name: "lab" }],
  storedProviders: { apis: [{ name: "chat", modalities: ["text", "image"] }] },
});

function stored(init: MessageInitShape<typeof ModelRegistrySchema>) {
  return create(ModelRegistrySchema, init);
}

const shared = stored({
  providers: [
    { spec: { providerId: "lab", baseUrl: "https://elsewhere.example.org" } },
    { spec: { providerId: "proxy", baseUrl: "https://proxy.example.org" } },
  ],
  models: [
    { spec: { id: "fast", provider: "proxy", upstreamName: "other" } },
    { spec: { id: "deep", provider: "proxy", contextWindow: 9_000 } },
  ],
});

// Requirement: RES-2
test("a plain id of both sources is that of the runtimes, and the other one is reported", () => {
  const both = compositeCatalog(local, shared);
  expect(resolveModel({ model: "fast" }, both).model).toMatchObject({ upstreamName: "gpt" });
  expect(both.providers.filter(({ name }) => name === "lab")).toEqual([local.providers[1]]);
  expect(shadowedEntries(local, shared)).toEqual([
    expect.stringContaining("provider lab has no effect"),
    expect.stringContaining("model fast has no effect"),
  ]);
});

test("a stored model is found by its id and by its provider and name, and described by the adapter of its API", () => {
  const both = compositeCatalog(local, shared);
  for (const model of ["deep", "proxy:deep"]) {
    expect(resolveModel({ model }, both)).toMatchObject({
      model: { id: "deep", upstreamName: "deep", contextWindow: 9_000, isStored: true },
      provider: { name: "proxy", isStored: true, modalities: ["text", "image"] },
    });
  }
});

test("a reference that both sources describe differently is ambiguous, and one that they describe alike is not", () => {
  const priced = { id: "gpt-cheap", provider: "openai", upstreamName: "gpt" };
  const differing = stored({ models: [{ spec: { ...priced, contextWindow: 5 } }] });
  const reference = { model: "openai:gpt" };
  expect(() => resolveModel(reference, compositeCatalog(local, differing))).toThrow(
    expect.objectContaining({
      reason: ErrorReason.AMBIGUOUS_MODEL_REFERENCE,
      message: expect.stringContaining("fast, gpt-cheap"),
    }),
  );
  const plain = create(ModelCatalogSchema, {
    models: [{ id: "fast", provider: "openai", upstreamName: "gpt", modalities: ["text"] }],
    providers: [{ name: "openai" }],
    storedProviders: {},
  });
  const same = compositeCatalog(plain, stored({ models: [{ spec: priced }] }));
  expect(resolveModel(reference, same).model.id).toBe("fast");
});

test("runtimes that use no stored models are offered none", () => {
  const { storedProviders: _, ...older } = local;
  const catalog = create(ModelCatalogSchema, older);
  expect(compositeCatalog(catalog, shared)).toBe(catalog);
});

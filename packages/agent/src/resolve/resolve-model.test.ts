import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { ModelCatalog, ModelSpecSchema } from "@reeve/contracts/agent";
import { ModelCatalogSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { describe, expect, test } from "vitest";
import { offer } from "../../test/offer.ts";
import { resolveModel } from "./resolve-model.ts";

const { models: catalog } = offer;
const resolve = (model: string, models = catalog) => resolveModel({ model }, models);
const catalogOf = (models: readonly MessageInitShape<typeof ModelSpecSchema>[]): ModelCatalog =>
  create(ModelCatalogSchema, { models: [...models], providers: catalog.providers });
const failure = (reason: ErrorReason, rule: string) =>
  expect.objectContaining({
    kind: "precondition",
    reason,
    violations: [expect.objectContaining({ field: "model", reason: rule })],
  });

// Requirement: RES-2
describe("a model is found", () => {
  test("by its id in the registry", () => {
    expect(resolve("default")).toMatchObject({
      model: { id: "default", upstreamName: "gpt-4o", contextWindow: 128_000 },
      provider: { name: "openai" },
    });
  });

  test("by a reference, with what the registry knows about it", () => {
    expect(resolve("openai:gpt-4o").model.id).toBe("default");
  });

  test("by a reference that the registry does not know", () => {
    expect(resolve("openai:ft:gpt-4o:acme").model).toMatchObject({
      id: "openai:ft:gpt-4o:acme",
      provider: "openai",
      upstreamName: "ft:gpt-4o:acme",
    });
  });

  test("by its id first, even if the id looks like a reference", () => {
    const models = catalogOf([
      { id: "openai:gpt-4o", provider: "scripted", upstreamName: "hello" },
    ]);
    expect(resolve("openai:gpt-4o", models).provider.name).toBe("scripted");
  });

  test("by a reference that matches two identical entries of the registry", () => {
    const models = catalogOf([
      ...catalog.models,
      {
        id: "other",
        provider: "openai",
        upstreamName: "gpt-4o",
        contextWindow: 128_000,
      },
    ]);
    expect(resolve("openai:gpt-4o", models).model.id).toBe("default");
  });
});

// Requirement: RES-2
describe("a model is rejected", () => {
  test("when it is neither an id nor a reference", () => {
    for (const name of ["gpt-4o", ":gpt-4o", "openai:", ":"]) {
      expect(() => resolve(name)).toThrow(failure(ErrorReason.MODEL_NOT_FOUND, "MODEL_NOT_FOUND"));
    }
  });

  test("when its provider is not configured", () => {
    for (const name of ["orphan", "unknown:x"]) {
      expect(() => resolve(name)).toThrow(
        failure(ErrorReason.PROVIDER_NOT_FOUND, "PROVIDER_NOT_FOUND"),
      );
    }
  });

  test("when its provider serves only other models", () => {
    expect(resolve("scripted:report").model.upstreamName).toBe("report");
    expect(() => resolve("scripted:goodbye")).toThrow(
      failure(ErrorReason.MODEL_NOT_FOUND, "MODEL_NOT_FOUND"),
    );
  });

  test("when the reference is ambiguous", () => {
    const ambiguous = failure(ErrorReason.AMBIGUOUS_MODEL_REFERENCE, "AMBIGUOUS_MODEL_REFERENCE");
    const twice = catalogOf([...catalog.models, ...catalog.models]);
    expect(() => resolve("default", twice)).toThrow(ambiguous);
    const different = catalogOf([
      ...catalog.models,
      { id: "cheap", provider: "openai", upstreamName: "gpt-4o" },
    ]);
    expect(() => resolve("openai:gpt-4o", different)).toThrow(ambiguous);
  });
});

test("without the model `default`, the refusal names the settings that supply it", () => {
  expect(() => resolve("default", catalogOf([]))).toThrow(
    /^there is no model "default"; set OPENAI_API_KEY, .*REEVE_MODELS$/,
  );
});

import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { ModelRegistry } from "@reeve/contracts/agent";
import { ModelCatalogSchema, ModelSpecSchema, ProviderSpecSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { expect, test } from "vitest";
import type { ModelChange } from "./change-models.ts";
import { changeModels, readRegistry } from "./change-models.ts";
import { assertRegistrySeen, assertSeen, assertStored } from "./seen-revision.ts";

const never = new AbortController().signal;

const local = create(ModelCatalogSchema, {
  models: [{ id: "fast", provider: "scripted" }],
  providers: [{ name: "scripted" }],
  storedProviders: {
    origins: ["https://models.example.org"],
    secrets: [{ name: "key", origins: ["https://models.example.org"] }],
    apis: [{ name: "chat" }, { name: "anthropic" }],
  },
});

function open(localModels = local) {
  const ports = {
    registry: new MemoryTable<ModelRegistry>(),
    localModels: () => localModels,
    assertRoom: () => undefined,
    clock: { now: () => 1_000 },
  };
  const change = async (given: Partial<ModelChange>) =>
    await changeModels(ports, "ann", { ...nothing, ...given }, never);
  return { ports, change };
}

const nothing: ModelChange = {
  providers: [],
  models: [],
  deletedProviders: [],
  deletedModels: [],
  paths: { provider: (index) => `providers[${index}]`, model: (index) => `models[${index}]` },
  prune: false,
  validateOnly: false,
  assertSeen: () => undefined,
};

const provider = (spec: MessageInitShape<typeof ProviderSpecSchema> = {}) =>
  create(ProviderSpecSchema, {
    providerId: "lab",
    baseUrl: "https://models.example.org/v1",
    secret: "key",
    ...spec,
  });
const model = (spec: MessageInitShape<typeof ModelSpecSchema> = {}) =>
  create(ModelSpecSchema, { id: "deep", provider: "lab", ...spec });

// Requirement: CFG-18
test("models and providers are stored together, and what is the same keeps its revision", async () => {
  const { ports, change } = open();
  const both = { providers: [provider()], models: [model()] };
  const first = await change(both);
  expect(first.changes).toEqual([
    { kind: "provider", id: "lab", action: "create" },
    { kind: "model", id: "deep", action: "create" },
  ]);
  expect((await change(both)).changes).toEqual([]);
  await change({ models: [model({ contextWindow: 5 })] });
  expect(await readRegistry(ports, never)).toMatchObject({
    revision: 2n,
    providers: [{ spec: { providerId: "lab", api: "chat" }, revision: 1n, updatedBy: "ann" }],
    models: [{ spec: { id: "deep", upstreamName: "deep", contextWindow: 5 }, revision: 2n }],
  });
});

// Requirement: CFG-11
test("every problem of a change is reported with its path, and nothing of it is stored", async () => {
  const { ports, change } = open();
  const metadata = "http://169.254.169.254/latest";
  const refused = change({
    providers: [
      provider(),
      provider({ providerId: "openai" }),
      provider({ providerId: "inside", baseUrl: metadata, secret: "" }),
      provider({ providerId: "odd", secret: "REEVE_INTERNAL_TOKEN" }),
      provider({ providerId: "login", baseUrl: "https://me:pw@models.example.org" }),
      provider({ providerId: "later", api: "responses" }),
      provider(),
    ],
    models: [
      model({ id: "a:b", provider: "nowhere" }),
      model({
        modalities: ["smell"],
        pricing: { inputUsdPerMillion: -1, outputUsdPerMillion: NaN },
      }),
    ],
  });
  await expect(refused).rejects.toMatchObject({
    kind: "invalid",
    violations: [
      { field: "providers[1].provider_id", reason: "RESERVED" },
      { field: "providers[2].base_url", reason: "ORIGIN_NOT_PERMITTED" },
      { field: "providers[3].secret", reason: "SECRET_NOT_FOUND" },
      { field: "providers[4].base_url", reason: "INVALID_URL" },
      { field: "providers[5].api", reason: "RUNTIME_OUTDATED" },
      { field: "providers[6].provider_id", reason: "REPEATED_ID" },
      { field: "models[0].id", reason: "INVALID_ID" },
      { field: "models[0].provider", reason: "PROVIDER_NOT_FOUND" },
      { field: "models[1].modalities[0]", reason: "UNKNOWN_MODALITY" },
      { field: "models[1].pricing.input_usd_per_million", reason: "INVALID_PRICE" },
      { field: "models[1].pricing.output_usd_per_million", reason: "INVALID_PRICE" },
    ],
  });
  expect((await readRegistry(ports, never)).revision).toBe(0n);
});

test("a change that is based on another revision is refused, and so is one of what is not stored", async () => {
  const { ports, change } = open();
  await change({ providers: [provider()], models: [model()] });
  await change({ models: [model({ contextWindow: 5 })] });
  const name = { kind: "model", id: "deep" } as const;
  const stale = { reason: ErrorReason.REVISION_CONFLICT, metadata: { revision: "2" } };
  const put = {
    models: [model()],
    assertSeen: (seen: ModelRegistry) => assertSeen(seen, name, 1n),
  };
  await expect(change(put)).rejects.toMatchObject(stale);
  // 0 as a revision that was seen is a registry without anything, and otherwise any.
  for (const seen of [{ revision: 1n }, { revision: 0n, seenRevision: 0n }]) {
    const assertSeen = (now: ModelRegistry) => assertRegistrySeen(now, seen);
    await expect(change({ prune: true, assertSeen })).rejects.toMatchObject(stale);
  }
  assertRegistrySeen(await readRegistry(ports, never), { revision: 0n });
  const other = { kind: "provider", id: "other" } as const;
  const remove = { assertSeen: (seen: ModelRegistry) => assertStored(seen, other, 0n) };
  await expect(change(remove)).rejects.toMatchObject({ kind: "not_found" });
  expect((await readRegistry(ports, never)).revision).toBe(2n);
});

test("a provider that stored models name is not deleted without them", async () => {
  const { change } = open();
  await change({ providers: [provider()], models: [model()] });
  await expect(change({ deletedProviders: ["lab"] })).rejects.toMatchObject({
    violations: [{ reason: "PROVIDER_IN_USE", description: expect.stringContaining("deep") }],
  });
  const { registry } = await change({ prune: true });
  expect([registry.models, registry.providers]).toEqual([[], []]);
});

test("a check stores nothing, and names what the runtimes' own entries hide", async () => {
  const { ports, change } = open();
  const given = { models: [model({ id: "fast", provider: "scripted" })], validateOnly: true };
  const { changes, warnings } = await change(given);
  expect(changes).toHaveLength(1);
  expect(warnings).toEqual([expect.stringContaining("model fast has no effect")]);
  expect((await readRegistry(ports, never)).revision).toBe(0n);
});

test("concurrent changes of different entries are all stored", async () => {
  const { ports, change } = open();
  await change({ providers: [provider()] });
  const ids = ["a", "b", "c", "d"];
  await Promise.all(ids.map((id) => change({ models: [model({ id })] })));
  const { models, revision } = await readRegistry(ports, never);
  expect(models.map(({ spec }) => spec?.id)).toEqual(ids);
  expect(revision).toBe(5n);
});

test("runtimes of an earlier version get no provider", async () => {
  const { change } = open(create(ModelCatalogSchema, { providers: [{ name: "scripted" }] }));
  await expect(change({ providers: [provider()] })).rejects.toMatchObject({
    violations: [{ reason: "RUNTIME_OUTDATED" }],
  });
});

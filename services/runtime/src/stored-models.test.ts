import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { ModelRegistry } from "@reeve/contracts/agent";
import { ModelRegistrySchema, ProviderDescriptorSchema } from "@reeve/contracts/agent";
import type { ModelProvider } from "@reeve/engine/ports/model-provider";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { expect, onTestFinished, test } from "vitest";
import { StoredModels } from "./stored-models.ts";

const key = "default";
const log = { warn: () => undefined };

function registry(init: MessageInitShape<typeof ModelRegistrySchema>): ModelRegistry {
  return create(ModelRegistrySchema, init);
}

function signalOfTest(): AbortSignal {
  const end = new AbortController();
  onTestFinished(() => end.abort());
  return end.signal;
}

function providerAt(baseUrl: string): ModelRegistry["providers"] {
  return registry({ providers: [{ spec: { providerId: "lab", baseUrl } }] }).providers;
}

// Requirement: CFG-18
test("what was stored before a refresh is known after it, although the watch has not shown it", async () => {
  const signal = signalOfTest();
  const table = new MemoryTable<ModelRegistry>();
  await table.put(key, registry({ revision: 1n }), signal);
  const watched = new MemoryTable<ModelRegistry>();
  await watched.put(key, registry({ revision: 1n }), signal);
  const slow = {
    get: table.get.bind(table),
    watch: watched.watch.bind(watched),
  };
  const models = await StoredModels.of({ table: slow, log }, signal);
  await table.put(key, registry({ revision: 2n, models: [{ spec: { id: "new" } }] }), signal);
  expect(models.registry?.revision).toBe(1n);
  await models.refresh(signal);
  expect(models.registry).toMatchObject({ revision: 2n, models: [{ spec: { id: "new" } }] });
});

test("a provider is opened once for each version of it, and is gone when it is deleted", async () => {
  const signal = signalOfTest();
  const table = new MemoryTable<ModelRegistry>();
  const models = await StoredModels.of({ table, log }, signal);
  const opened: string[] = [];
  const open = ({ baseUrl }: { readonly baseUrl: string }): ModelProvider => {
    opened.push(baseUrl);
    const descriptor = create(ProviderDescriptorSchema, { name: "lab" });
    return { descriptor, format: "test", async *stream() {} };
  };
  const store = async (revision: bigint, providers: ModelRegistry["providers"]) => {
    await table.put(key, registry({ revision, providers }), signal);
    await models.refresh(signal);
    return models.provider("lab", open);
  };
  expect(models.provider("lab", open)).toBeUndefined();
  const first = await store(1n, providerAt("https://a.example.org"));
  expect(await store(2n, providerAt("https://a.example.org"))).toBe(first);
  expect(await store(3n, providerAt("https://b.example.org"))).not.toBe(first);
  expect(opened).toEqual(["https://a.example.org", "https://b.example.org"]);
  expect(await store(4n, [])).toBeUndefined();
});

test("a table that never opened leaves what is known, and one that was open is waited for", async () => {
  const signal = signalOfTest();
  const table = new MemoryTable<ModelRegistry>();
  const away = new Failure("unavailable", ErrorReason.UNAVAILABLE, "the bucket is not open yet");
  const closed = { watch: table.watch.bind(table), get: async () => Promise.reject(away) };
  const never = await StoredModels.of({ table: closed, log, canRead: () => false }, signal);
  expect(await never.refresh(signal)).toBe(false);
  const once = await StoredModels.of({ table: closed, log }, signal);
  await expect(once.refresh(signal)).rejects.toThrow(away);
});

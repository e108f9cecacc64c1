import { create } from "@bufbuild/protobuf";
import type { Skill } from "@reeve/agent/skills/skill";
import type { ModelCatalog } from "@reeve/contracts/agent";
import { ModelCatalogSchema, SkillDescriptorSchema } from "@reeve/contracts/agent";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { SkillStore } from "@reeve/models/skills/skill-store";
import { Failure } from "@reeve/platform/failure";
import { ErrorReason } from "@reeve/contracts/error";
import { expect, test } from "vitest";
import { AnnouncedCatalog } from "./announced-catalog.ts";

const never = new AbortController().signal;

function skillOf(name: string, digest: string): Skill {
  const descriptor = create(SkillDescriptorSchema, { name, digest, description: "d" });
  return { descriptor, instructions: "x", document: new Uint8Array(), files: [] };
}

function open(
  skills: readonly Skill[],
  table: MemoryTable<ModelCatalog>,
  plugins: readonly string[] = [],
) {
  const warnings: unknown[] = [];
  const store = new SkillStore(skills);
  const source = {
    skills: store,
    catalogWith: (list: SkillStore["descriptors"]) =>
      create(ModelCatalogSchema, {
        skills: [...list],
        plugins: plugins.map((id) => ({ pluginDescriptor: { id } })),
      }),
    log: { warn: (fields: unknown) => void warnings.push(fields) },
    intervalMs: 1,
  };
  return { warnings, store, source, catalog: new AnnouncedCatalog({ ...source, table }) };
}

const stored = async (table: MemoryTable<ModelCatalog>) =>
  (await table.get("default", never))?.record.skills.map(({ digest }) => digest);

test("a runtime whose skills differ from those of the catalog warns, and its own changes do not", async () => {
  const table = new MemoryTable<ModelCatalog>();
  const one = open([skillOf("maps", "a"), skillOf("same", "s")], table);
  await one.catalog.announce(never);
  await one.catalog.useSkills([skillOf("maps", "b"), skillOf("same", "s")], never);
  expect(one.warnings).toEqual([]);
  const other = open([skillOf("maps", "a"), skillOf("same", "s")], table);
  await other.catalog.announce(never);
  expect(other.warnings).toEqual([{ skills: ["maps"] }]);
});

// Requirement: CFG-17
test("skills that cannot be stored can be opened, and are offered once they are stored", async () => {
  const table = new MemoryTable<ModelCatalog>();
  const { source, store } = open([skillOf("maps", "a")], table);
  let isDown = true;
  const failing = {
    get: table.get.bind(table),
    put: async (...args: Parameters<typeof table.put>) => {
      if (isDown) throw new Failure("unavailable", ErrorReason.UNAVAILABLE, "the store is down");
      return await table.put(...args);
    },
  };
  const catalog = new AnnouncedCatalog({ ...source, table: failing });
  const changed = [skillOf("maps", "b")];
  await expect(catalog.useSkills(changed, never)).rejects.toThrow("the store is down");
  expect(store.descriptors.map(({ digest }) => digest)).toEqual(["a"]);
  expect(store.version("maps", "b")).toBeDefined();
  isDown = false;
  await catalog.useSkills(changed, never);
  expect(store.descriptors.map(({ digest }) => digest)).toEqual(["b"]);
  expect(await stored(table)).toEqual(["b"]);
});

test("skills that another runtime removed from the catalog are written again", async () => {
  const table = new MemoryTable<ModelCatalog>();
  const { catalog } = open([skillOf("maps", "a")], table);
  const end = new AbortController();
  const restoring = catalog.restore(end.signal).catch(() => undefined);
  await table.put("default", create(ModelCatalogSchema), never);
  for await (const change of table.watch("", never)) {
    if (change.kind === "written" && change.row.record.skills.length > 0) break;
  }
  expect(await stored(table)).toEqual(["a"]);
  end.abort();
  await restoring;
});

// Requirement: RES-5
test("plugins that another runtime removed from the catalog are written again, and its skills stay", async () => {
  const table = new MemoryTable<ModelCatalog>();
  const { catalog } = open([], table, ["guard"]);
  const end = new AbortController();
  const restoring = catalog.restore(end.signal).catch(() => undefined);
  const { descriptor } = skillOf("maps", "b");
  await table.put("default", create(ModelCatalogSchema, { skills: [descriptor] }), never);
  for await (const change of table.watch("", never)) {
    if (change.kind === "written" && change.row.record.plugins.length > 0) break;
  }
  expect(await stored(table)).toEqual(["b"]);
  end.abort();
  await restoring;
});

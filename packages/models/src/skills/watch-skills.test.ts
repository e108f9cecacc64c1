import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Skill } from "@reeve/agent/skills/skill";
import { expect, test } from "vitest";
import { SkillStore } from "./skill-store.ts";
import { readSkillFolder } from "./read-skills.ts";
import { loadSkills, watchSkills } from "./watch-skills.ts";

// Requirement: CFG-17
test("changed skills are used when all are valid, and earlier versions stay for runs in progress", async () => {
  const path = mkdtempSync(join(tmpdir(), "reeve-skills-"));
  const end = new AbortController();
  const refused = Promise.withResolvers<void>();
  const write = (text: string) => {
    mkdirSync(join(path, "tables"), { recursive: true });
    writeFileSync(join(path, "tables/SKILL.md"), text);
  };
  const head = "---\nname: tables\ndescription: d\n---\n";
  write(`${head}one`);
  const log = { info: () => undefined, warn: () => undefined, error: () => refused.resolve() };
  const loaded = await loadSkills({ path, log }, end.signal);
  const store = new SkillStore(loaded.skills);
  const digest = store.descriptors[0]?.digest ?? "";
  const used = Promise.withResolvers<readonly Skill[]>();
  const watching = watchSkills(
    { path, log, intervalMs: 1 },
    loaded,
    async (skills) => {
      store.replace(skills);
      used.resolve(skills);
    },
    end.signal,
  );
  write("no front matter");
  await refused.promise;
  expect(store.descriptors).toMatchObject([{ digest }]);
  write(`${head}two, and longer`);
  await used.promise;
  const [changed] = store.descriptors;
  expect(changed?.digest).not.toBe(digest);
  expect(store.version("tables", digest)?.instructions).toBe("one");
  expect(store.version("tables", changed?.digest ?? "")?.instructions).toBe("two, and longer");
  expect(store.version("tables", "other")).toBeUndefined();
  end.abort();
  await watching.catch(() => undefined);
  rmSync(path, { recursive: true });
});

test("a read that fails for a while is tried again, and the log has its error once", async () => {
  const path = mkdtempSync(join(tmpdir(), "reeve-skills-"));
  const end = new AbortController();
  const errors: unknown[] = [];
  const log = {
    info: () => undefined,
    warn: () => undefined,
    error: (e: unknown) => errors.push(e),
  };
  const loaded = await loadSkills({ path, log }, end.signal);
  mkdirSync(join(path, "tables"));
  writeFileSync(join(path, "tables/SKILL.md"), "---\nname: tables\ndescription: d\n---\nx");
  const used = Promise.withResolvers<readonly Skill[]>();
  let reads = 0;
  const read = async (...args: Parameters<typeof readSkillFolder>) => {
    if (++reads < 3) throw new Error("EMFILE: too many open files");
    return await readSkillFolder(...args);
  };
  const use = async (skills: readonly Skill[]) => used.resolve(skills);
  const watching = watchSkills({ path, log, intervalMs: 1, read }, loaded, use, end.signal);
  expect(await used.promise).toHaveLength(1);
  expect(errors).toHaveLength(1);
  end.abort();
  await watching.catch(() => undefined);
  rmSync(path, { recursive: true });
});

test("skills that may have been stored are replaced when the folder is as it was before", async () => {
  const path = mkdtempSync(join(tmpdir(), "reeve-skills-"));
  const end = new AbortController();
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  mkdirSync(join(path, "tables"));
  writeFileSync(join(path, "tables/SKILL.md"), "---\nname: tables\ndescription: d\n---\nx");
  const loaded = await loadSkills({ path, log }, end.signal);
  const used: number[] = [];
  const restored = Promise.withResolvers<void>();
  const use = async (skills: readonly Skill[]) => {
    used.push(skills.length);
    if (used.length > 1) return restored.resolve();
    rmSync(join(path, "maps"), { recursive: true });
    throw new Error("the store did not answer");
  };
  const watching = watchSkills({ path, log, intervalMs: 1 }, loaded, use, end.signal);
  mkdirSync(join(path, "maps"));
  writeFileSync(join(path, "maps/SKILL.md"), "---\nname: maps\ndescription: d\n---\nx");
  await restored.promise;
  expect(used).toEqual([2, 1]);
  end.abort();
  await watching.catch(() => undefined);
  rmSync(path, { recursive: true });
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Skill } from "@reeve/agent/skills/skill";
import { expect, test } from "vitest";
import { SkillStore } from "./skill-store.ts";
import { loadSkills, watchSkills } from "./watch-skills.ts";

// Requirement: CFG-17
test("changed skills are used when all are valid, and earlier versions stay for runs in progress", async () => {
  const path = mkdtempSync(join(tmpdir(), "reeve-skills-"));
  const end = new AbortController();
  const write = (text: string) => {
    mkdirSync(join(path, "tables"), { recursive: true });
    writeFileSync(join(path, "tables/SKILL.md"), text);
  };
  const head = "---\nname: tables\ndescription: d\n---\n";
  write(`${head}one`);
  const loaded = await loadSkills({ path }, end.signal);
  const store = new SkillStore(loaded.skills);
  const digest = store.descriptors[0]?.digest ?? "";
  const refused = Promise.withResolvers<void>();
  const used = Promise.withResolvers<readonly Skill[]>();
  const log = { info: () => undefined, error: () => refused.resolve() };
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

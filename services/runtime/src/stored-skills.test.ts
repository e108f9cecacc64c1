import { fromBinary } from "@bufbuild/protobuf";
import { parseSkill } from "@reeve/agent/skills/parse-skill";
import { SkillContentSchema } from "@reeve/contracts/agent";
import { MemoryArtifactStore } from "@reeve/jetstream/objects/memory-artifact-store";
import { SkillStore } from "@reeve/models/skills/skill-store";
import { expect, test } from "vitest";
import { withStoredSkills } from "./stored-skills.ts";

const never = new AbortController().signal;
const bytes = (text: string) => new Uint8Array(Buffer.from(text));
const files = [
  { path: "SKILL.md", content: bytes("---\nname: maps\ndescription: d\n---\nRead.") },
  { path: "a.txt", content: bytes("a") },
];
const parsed = parseSkill("maps", files);
if (!("skill" in parsed)) throw new Error("the skill of the test is not valid");
const { skill } = parsed;
const { name, digest } = skill.descriptor;

test("a version is stored once for each tenant, with all its files, and again after it was deleted", async () => {
  const artifacts = new MemoryArtifactStore({ maxBytes: 10_000 });
  const skills = withStoredSkills(new SkillStore([skill]), artifacts, () => 0);
  const artifactId = (await skills.artifactOf?.("acme", skill.descriptor, never)) ?? "";
  expect(await skills.artifactOf?.("acme", skill.descriptor, never)).toBe(artifactId);
  expect(await skills.artifactOf?.("globex", skill.descriptor, never)).not.toBe(artifactId);
  const stored = Buffer.concat(await Array.fromAsync(artifacts.read("acme", artifactId, never)));
  const content = fromBinary(SkillContentSchema, stored);
  expect(content.files.map(({ path }) => path)).toEqual(["SKILL.md", "a.txt"]);
  expect(parseSkill("maps", content.files)).toMatchObject({ skill: { descriptor: { digest } } });
  await artifacts.delete("acme", artifactId, never);
  expect(await skills.artifactOf?.("acme", skill.descriptor, never)).toBe(artifactId);
  expect(await artifacts.get("acme", artifactId, never)).toBeDefined();
});

test("a runtime without a version uses what another runtime has stored, and nothing else", async () => {
  const artifacts = new MemoryArtifactStore({ maxBytes: 10_000 });
  const without = withStoredSkills(new SkillStore([]), artifacts, () => 0);
  expect(await without.artifactOf?.("acme", { name, digest }, never)).toBeUndefined();
  const other = withStoredSkills(new SkillStore([skill]), artifacts, () => 0);
  const artifactId = await other.artifactOf?.("acme", { name, digest }, never);
  expect(await without.artifactOf?.("acme", { name, digest }, never)).toBe(artifactId);
});

test("a version that this runtime does not have yet is waited for, once in a while", async () => {
  const artifacts = new MemoryArtifactStore({ maxBytes: 10_000 });
  const store = new SkillStore([]);
  let waits = 0;
  let change: (() => void) | undefined;
  const late = {
    version: (...of: readonly [string, string]) => store.version(...of),
    settle: () => {
      waits += 1;
      change?.();
      return Promise.resolve();
    },
  };
  const skills = withStoredSkills(late, artifacts, () => 0);
  const find = () => skills.artifactOf?.("acme", { name, digest }, never);
  expect([await find(), await find(), waits]).toEqual([undefined, undefined, 1]);
  const other = withStoredSkills(late, artifacts, () => 0);
  change = () => store.add([skill]);
  expect(await other.artifactOf?.("acme", { name, digest }, never)).toMatch(/^art_/);
  expect(await find()).toMatch(/^art_/);
});

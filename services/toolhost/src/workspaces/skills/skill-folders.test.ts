import { readFile, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { parseSkill } from "@reeve/agent/skills/parse-skill";
import { SkillContentSchema } from "@reeve/contracts/agent";
import type { MountedSkill } from "@reeve/contracts/tool";
import { MountedSkillSchema } from "@reeve/contracts/tool";
import { MemoryArtifactStore } from "@reeve/jetstream/objects/memory-artifact-store";
import { sandboxIdentity } from "@reeve/sandbox/host/identity";
import { temporaryFolder } from "@reeve/sandbox/test/support/temporary-folder";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SkillFolders } from "./skill-folders.ts";

const never = new AbortController().signal;
const artifacts = new MemoryArtifactStore({ maxBytes: 10_000_000 });
const resources = new AsyncDisposableStack();
let below = "";

beforeAll(async () => {
  below = join(resources.use(await temporaryFolder()).path, ".skills");
});
afterAll(() => resources.disposeAsync());

const bytes = (content: string) => new Uint8Array(Buffer.from(content));

function filesOf(name: string, text: string, path = "scripts/run.sh") {
  return [
    { path: "SKILL.md", content: bytes(`---\nname: ${name}\ndescription: d\n---\nDo it.`) },
    { path, content: bytes(text) },
  ];
}

/** Stores a skill as a runtime does, with the digest of its files unless another one is given. */
async function stored(
  name: string,
  { text = "#!/bin/sh\n", path = "scripts/run.sh", tenant = "acme", digest = "" } = {},
): Promise<MountedSkill> {
  const files = filesOf(name, text, path);
  const parsed = parseSkill(name, files);
  const own = "skill" in parsed ? parsed.skill.descriptor.digest : "";
  const content = toBinary(SkillContentSchema, create(SkillContentSchema, { files }));
  const draft = { name: `${name}.skill`, mediaType: "", runId: "" };
  const { artifactId } = await artifacts.put(tenant, draft, only(content), never);
  return create(MountedSkillSchema, { name, digest: digest || own, artifactId });
}

async function* only(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}

function folders(options: { readonly maxBytes?: number } = {}) {
  const reads: string[] = [];
  const counted = {
    read: (...args: Parameters<MemoryArtifactStore["read"]>) => {
      reads.push(args[1]);
      return artifacts.read(...args);
    },
  };
  const identity = sandboxIdentity(64_017);
  const cache = new SkillFolders({ below, identity, artifacts: counted, ...options });
  return { cache, reads };
}

test("a combination of skills is written once, read-only, and shared by the calls of a tenant", async () => {
  const { cache, reads } = folders();
  await using _ = cache;
  const skills = [await stored("maps"), await stored("tables", { text: "plain" })];
  const used = await Promise.all([1, 2, 3].map(() => cache.use("acme", skills, never)));
  expect(new Set(used.map(({ path }) => path)).size).toBe(1);
  expect(reads).toHaveLength(2);
  const { path = "" } = used[0] ?? {};
  expect((await readdir(path)).toSorted()).toEqual(["maps", "tables"]);
  expect(await readFile(join(path, "maps/SKILL.md"), "utf8")).toContain("Do it.");
  const modeOf = async (file: string) => ((await stat(join(path, file))).mode & 0o777).toString(8);
  expect(await modeOf("maps/scripts/run.sh")).toBe("555");
  expect(await modeOf("tables/scripts/run.sh")).toBe("444");
});

// Requirement: CFG-17
test("a tenant gets no skill of another one, not even by the id of its artifact", async () => {
  await using cache = folders().cache;
  const skill = await stored("maps");
  using own = await cache.use("acme", [skill], never);
  await expect(cache.use("globex", [skill], never)).rejects.toMatchObject({ kind: "not_found" });
  const theirs = await stored("maps", { tenant: "globex" });
  using other = await cache.use("globex", [theirs], never);
  expect(other.path).not.toBe(own.path);
});

test.each([
  ["has another version", { digest: "0".repeat(64) }],
  ["has files outside of its folder", { path: "../../escaped" }],
  ["has files outside of its folder", { path: "/etc/escaped" }],
])("an artifact that %s is not mounted, and leaves nothing", async (problem, options) => {
  await using cache = folders().cache;
  const skill = await stored("maps", options);
  await expect(cache.use("acme", [skill], never)).rejects.toThrow(
    `the skill maps cannot be mounted: artifact ${skill.artifactId} ${problem}`,
  );
  for (const own of await readdir(below)) expect(await readdir(join(below, own))).toEqual([]);
});

test("folders that no call uses are deleted beyond the limit, the longest unused first", async () => {
  // Two skills, each with two files of a block.
  const { cache, reads } = folders({ maxBytes: 3 * 4_096 });
  await using _ = cache;
  const text = "small";
  const [first, second] = [await stored("first", { text }), await stored("second", { text })];
  const one = await cache.use("acme", [first], never);
  const two = await cache.use("acme", [second], never);
  // Both are in use: nothing is deleted.
  await expect(stat(one.path)).resolves.toBeDefined();
  one[Symbol.dispose]();
  two[Symbol.dispose]();
  using again = await cache.use("acme", [first], never);
  expect(again.path).not.toBe(one.path);
  using kept = await cache.use("acme", [second], never);
  expect(kept.path).toBe(two.path);
  expect(reads).toEqual([first.artifactId, second.artifactId, first.artifactId]);
});

test("a toolhost that ends deletes its folders", async () => {
  const { cache } = folders();
  const { path } = await cache.use("acme", [await stored("maps")], never);
  await cache[Symbol.asyncDispose]();
  await expect(stat(path)).rejects.toMatchObject({ code: "ENOENT" });
});

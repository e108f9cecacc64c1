import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { skillMediaType, storedSkillKey } from "@reeve/agent/skills/skill";
import type { Agent } from "@reeve/contracts/agent";
import { AgentSchema, ModelCatalogSchema, SkillDescriptorSchema } from "@reeve/contracts/agent";
import { ArtifactSchema } from "@reeve/contracts/artifact";
import { artifactIdOf } from "@reeve/jetstream/objects/artifact-draft";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { expect, test } from "vitest";
import { deleteEarlierSkills } from "./sweep-skills.ts";

const never = new AbortController().signal;
const dayMs = 86_400_000;
const nowMs = 100 * dayMs;

/** The artifact of a version that was stored some days ago. */
function version(digest: string, daysAgo: number, more: { readonly createdBy?: string } = {}) {
  const idempotencyKey = storedSkillKey({ name: "maps", digest });
  const draft = { name: "maps.skill", mediaType: skillMediaType, runId: "", ...more };
  const artifactId = artifactIdOf("acme", { ...draft, idempotencyKey });
  const createdAt = timestampFromMs(nowMs - daysAgo * dayMs);
  return create(ArtifactSchema, { ...draft, artifactId, createdAt });
}

async function deleted(stored: readonly ReturnType<typeof version>[], isKnown = true) {
  const agents = new MemoryTable<Agent>();
  await agents.put("acme.helper", create(AgentSchema), never);
  const gone: string[] = [];
  const artifacts = {
    list: () => Promise.resolve(stored),
    delete: (_: string, artifactId: string) => Promise.resolve(gone.push(artifactId) > 0),
  };
  const models = create(ModelCatalogSchema, {
    providers: isKnown ? [{}] : [],
    skills: [create(SkillDescriptorSchema, { name: "maps", digest: "current" })],
  });
  await deleteEarlierSkills(
    { agents, artifacts, offer: () => ({ models, tools: [] }) },
    nowMs,
    never,
  );
  return gone;
}

const earlier = [90, 80, 70, 60, 50].map((daysAgo) => version(`of ${daysAgo}`, daysAgo));

// Requirement: CFG-17
test("earlier versions of a skill are deleted after 30 days, except for the last three", async () => {
  const [oldest, old] = earlier;
  const others = [version("current", 95), version("mine", 96, { createdBy: "ann" })];
  const gone = await deleted([...earlier, ...others]);
  expect(gone).toEqual([old?.artifactId, oldest?.artifactId]);
  const recent = [5, 4, 3, 2, 1].map((daysAgo) => version(`of ${daysAgo}`, daysAgo));
  expect(await deleted(recent)).toEqual([]);
});

test("a version that was offered for long stays for 30 days after the next one", async () => {
  const often = [90, 5, 4, 3, 2].map((daysAgo) => version(`of ${daysAgo}`, daysAgo));
  expect(await deleted(often)).toEqual([]);
});

test("nothing is deleted while no runtime has announced what it offers", async () => {
  expect(await deleted(earlier, false)).toEqual([]);
});

import { create, toBinary } from "@bufbuild/protobuf";
import type { Skill } from "@reeve/agent/skills/skill";
import { skillFileName, skillMediaType } from "@reeve/agent/skills/skill";
import { SkillContentSchema } from "@reeve/contracts/agent";
import type { SkillSource } from "@reeve/engine/ports/skill-source";
import type { ArtifactStore } from "@reeve/jetstream/objects/artifact-store";
import { artifactIdOf } from "@reeve/jetstream/objects/artifact-draft";

/** How many stored versions are remembered, so that not each call of a tool asks the store. */
const maxRemembered = 1_000;
/** A version that was deleted is stored again after this. */
const rememberedMs = 60_000;

/** Adds to the skills of a process that the versions which runs use are stored as artifacts, once for each tenant. */
export function withStoredSkills(
  skills: SkillSource,
  artifacts: Pick<ArtifactStore, "get" | "put">,
  now: () => number,
): SkillSource {
  /** When a version was seen in the store, by artifact, the oldest first. */
  const seen = new Map<string, number>();
  const remember = (artifactId: string) => {
    seen.delete(artifactId);
    seen.set(artifactId, now());
    for (const oldest of seen.keys()) {
      if (seen.size <= maxRemembered) break;
      seen.delete(oldest);
    }
    return artifactId;
  };
  return {
    version: (name, digest) => skills.version(name, digest),
    settle: async (hasAll, signal) => await skills.settle?.(hasAll, signal),
    async artifactOf(tenant, { name, digest }, signal) {
      const draft = {
        name: `${name}.skill`,
        mediaType: skillMediaType,
        runId: "",
        idempotencyKey: `skill/${name}/${digest}`,
      };
      const artifactId = artifactIdOf(tenant, draft);
      if (now() - (seen.get(artifactId) ?? -Infinity) < rememberedMs) return artifactId;
      const skill = skills.version(name, digest);
      if (skill !== undefined) await artifacts.put(tenant, draft, contentOf(skill), signal);
      else if ((await artifacts.get(tenant, artifactId, signal)) === undefined) return undefined;
      return remember(artifactId);
    },
  };
}

async function* contentOf({ document, files }: Skill): AsyncIterable<Uint8Array> {
  const all = [{ path: skillFileName, content: document }, ...files];
  const ordered = all.toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
  yield toBinary(SkillContentSchema, create(SkillContentSchema, { files: ordered }));
}

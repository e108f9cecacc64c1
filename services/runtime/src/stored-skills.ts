import { create, toBinary } from "@bufbuild/protobuf";
import type { Skill } from "@reeve/agent/skills/skill";
import { skillFileName, skillMediaType, storedSkillKey } from "@reeve/agent/skills/skill";
import { SkillContentSchema } from "@reeve/contracts/agent";
import type { SkillSource } from "@reeve/engine/ports/skill-source";
import type { ArtifactStore } from "@reeve/jetstream/objects/artifact-store";
import { artifactIdOf } from "@reeve/jetstream/objects/artifact-draft";

/** How many missing versions are remembered. */
const maxRemembered = 1_000;
/** A version that was missing is waited for again after this. */
const rememberedMs = 60_000;

/**
 * Adds to the skills of a process that the versions which runs use are stored as artifacts, once for each tenant. Each call asks the store
 * for their descriptions, because anybody in the tenant may delete them.
 */
export function withStoredSkills(
  skills: SkillSource,
  artifacts: Pick<ArtifactStore, "get" | "put">,
  now: () => number,
): SkillSource {
  /** Versions that neither this process nor the store had. */
  const missing = new RecentKeys(now);
  return {
    version: (name, digest) => skills.version(name, digest),
    settle: async (hasAll, signal) => await skills.settle?.(hasAll, signal),
    async artifactOf(tenant, { name, digest }, signal) {
      const draft = {
        name: `${name}.skill`,
        mediaType: skillMediaType,
        runId: "",
        idempotencyKey: storedSkillKey({ name, digest }),
      };
      const artifactId = artifactIdOf(tenant, draft);
      const find = async () => {
        const skill = skills.version(name, digest);
        if (skill === undefined) return await artifacts.get(tenant, artifactId, signal);
        // Returns what is stored already.
        return await artifacts.put(tenant, draft, contentOf(skill), signal);
      };
      let found = await find();
      if (found === undefined && !missing.has(artifactId)) {
        // The run may have been prepared by a process that saw a change of the skills earlier.
        await skills.settle?.(() => skills.version(name, digest) !== undefined, signal);
        found = await find();
      }
      if (found === undefined) missing.add(artifactId);
      return found?.artifactId;
    },
  };
}

/** The keys that were added lately, the oldest first. */
class RecentKeys {
  readonly #now: () => number;
  readonly #addedMs = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  has(key: string): boolean {
    return this.#now() - (this.#addedMs.get(key) ?? -Infinity) < rememberedMs;
  }

  add(key: string): void {
    this.#addedMs.delete(key);
    this.#addedMs.set(key, this.#now());
    for (const oldest of this.#addedMs.keys()) {
      if (this.#addedMs.size <= maxRemembered) break;
      this.#addedMs.delete(oldest);
    }
  }
}

async function* contentOf({ document, files }: Skill): AsyncIterable<Uint8Array> {
  const all = [{ path: skillFileName, content: document }, ...files];
  const ordered = all.toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
  yield toBinary(SkillContentSchema, create(SkillContentSchema, { files: ordered }));
}

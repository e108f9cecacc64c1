import type { Skill } from "@reeve/agent/skills/skill";
import type { SkillDescriptor } from "@reeve/contracts/agent";
import type { SkillSource } from "@reeve/engine/ports/skill-source";

/** How large the earlier versions may be that are kept for runs in progress. */
const maxEarlierBytes = 67_108_864;

/** The skills of this runtime, and the latest of their earlier versions, which runs in progress may still open. */
export class SkillStore implements SkillSource {
  #current: readonly Skill[];
  /** By name and digest, the latest last. */
  readonly #versions = new Map<string, Skill>();

  constructor(skills: readonly Skill[]) {
    this.#current = skills;
    this.replace(skills);
  }

  get descriptors(): readonly SkillDescriptor[] {
    return this.#current.map(({ descriptor }) => descriptor);
  }

  /** Puts other skills in the place of the current ones. */
  replace(skills: readonly Skill[]): void {
    this.#current = skills;
    for (const skill of skills) {
      const key = keyOf(skill.descriptor);
      this.#versions.delete(key);
      this.#versions.set(key, skill);
    }
    this.#forgetOldest();
  }

  version(name: string, digest: string): Skill | undefined {
    return this.#versions.get(keyOf({ name, digest }));
  }

  #forgetOldest(): void {
    const current = new Set(this.#current.map(({ descriptor }) => keyOf(descriptor)));
    const earlier = [...this.#versions].filter(([key]) => !current.has(key));
    let bytes = earlier.reduce((sum, [, skill]) => sum + sizeOf(skill), 0);
    for (const [key, skill] of earlier) {
      if (bytes <= maxEarlierBytes) return;
      bytes -= sizeOf(skill);
      this.#versions.delete(key);
    }
  }
}

function sizeOf({ descriptor }: Skill): number {
  return Number(descriptor.sizeBytes);
}

function keyOf({ name, digest }: Pick<SkillDescriptor, "name" | "digest">): string {
  return `${name}/${digest}`;
}

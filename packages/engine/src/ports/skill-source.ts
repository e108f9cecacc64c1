import type { Skill } from "@reeve/agent/skills/skill";

/** The skills that this process has. */
export interface SkillSource {
  /** Returns the version of a skill with a digest. Undefined: this process does not have it. */
  version(name: string, digest: string): Skill | undefined;
}

import type { SkillDescriptor } from "@reeve/contracts/agent";

/** A file of a skill. */
export interface SkillFile {
  /** Relative to the folder of the skill, with `/`. */
  readonly path: string;
  readonly content: Uint8Array;
}

/** A skill with its content. */
export interface Skill {
  readonly descriptor: SkillDescriptor;
  /** The text of `SKILL.md` after its front matter. */
  readonly instructions: string;
  /** `SKILL.md` as it is. */
  readonly document: Uint8Array;
  /** All files but `SKILL.md`, ordered by path. */
  readonly files: readonly SkillFile[];
}

/** The file of a skill with its name, description, and instructions. */
export const skillFileName = "SKILL.md";

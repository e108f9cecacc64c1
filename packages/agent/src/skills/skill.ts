import type { SkillDescriptor } from "@reeve/contracts/agent";
import type { Artifact } from "@reeve/contracts/artifact";

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

/** Media type of the artifacts with the files of skills, which runtimes store for toolhosts. */
export const skillMediaType = "application/vnd.reeve.skill";

/** Returns the idempotency key with which runtimes store a version of a skill for a tenant. */
export function storedSkillKey({ name, digest }: Pick<SkillDescriptor, "name" | "digest">): string {
  return `skill/${name}/${digest}`;
}

/** Whether an artifact is a skill that a runtime has stored. Files of clients and of runs are none, whatever their media type is. */
export function isStoredSkill({
  mediaType,
  runId,
  createdBy,
}: Pick<Artifact, "mediaType" | "runId" | "createdBy">): boolean {
  return mediaType === skillMediaType && runId === "" && createdBy === "";
}

/** The file of a skill with its name, description, and instructions. */
export const skillFileName = "SKILL.md";

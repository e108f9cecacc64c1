import type { Skill } from "@reeve/agent/skills/skill";

/** The skills that this process has. */
export interface SkillSource {
  /** Returns the version of a skill with a digest. Undefined: this process does not have it. */
  version(name: string, digest: string): Skill | undefined;
  /**
   * Waits until `hasAll` returns true, for the time in which a process sees a change of its skills, for example because another process
   * has seen it earlier. Returns in either case. Rejects with the signal's reason. Default: the skills never change.
   */
  settle?(hasAll: () => boolean, signal: AbortSignal): Promise<void>;
}

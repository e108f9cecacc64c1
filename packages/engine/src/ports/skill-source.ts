import type { Skill } from "@reeve/agent/skills/skill";
import type { SkillDescriptor } from "@reeve/contracts/agent";

/** The skills that this process has. */
export interface SkillSource {
  /** Returns the version of a skill with a digest. Undefined: this process does not have it. */
  version(name: string, digest: string): Skill | undefined;
  /**
   * Waits until `hasAll` returns true, for the time in which a process sees a change of its skills, for example because another process
   * has seen it earlier. Returns in either case. Rejects with the signal's reason. Default: the skills never change.
   */
  settle?(hasAll: () => boolean, signal: AbortSignal): Promise<void>;
  /**
   * Returns the id of the artifact of a tenant with the files of a version, for toolhosts, and stores it first if it is missing. Undefined: no
   * process has stored it, and this one does not have the version. Throws a Failure when the store does not answer. Default: no
   * toolhost mounts skills.
   */
  artifactOf?(
    tenant: string,
    version: Pick<SkillDescriptor, "name" | "digest">,
    signal: AbortSignal,
  ): Promise<string | undefined>;
}

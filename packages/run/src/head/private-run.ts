import type { RunCreated } from "@reeve/contracts/run";

/**
 * Whether a run may show what only its user may read: memories, or passages of collections with readers of their own. Others than its user
 * then neither see these, nor tell its agent what to do.
 */
export function isPrivateRun(
  created: Partial<Pick<RunCreated, "memoryEnabled" | "collectionsRestricted">> | undefined,
): boolean {
  return created?.memoryEnabled === true || created?.collectionsRestricted === true;
}

/** Isolations under which a toolhost does not execute code of agents: without a sandbox, or with a sandbox for file tools only. */
const withoutCode: readonly string[] = ["none", "files-only"];

/** Returns whether toolhosts with this isolation, as their catalog states it, execute code. */
export function executesCode(isolation: string): boolean {
  return !withoutCode.includes(isolation);
}

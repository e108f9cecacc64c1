/** Isolations under which a toolhost runs no code of others: there is none, or only our own programs touch files. */
const withoutCode: readonly string[] = ["none", "files-only"];

/** Whether toolhosts of this isolation, as their catalog tells it, execute code. */
export function executesCode(isolation: string): boolean {
  return !withoutCode.includes(isolation);
}

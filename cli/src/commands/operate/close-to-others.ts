import { chmodSync, existsSync, statSync } from "node:fs";

/** The rights of everybody but the owner. */
const others = 0o077;

/**
 * Takes all rights of others from those of the files and folders that exist. Returns the paths of those to which they had any: what is in
 * them may be known.
 */
export function closeToOthers(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => {
    const mode = existsSync(path) ? statSync(path).mode & 0o777 : 0;
    if ((mode & others) === 0) return false;
    chmodSync(path, mode & ~others);
    return true;
  });
}

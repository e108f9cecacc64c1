import { globSync, readFileSync } from "node:fs";

/** Returns the command lines of this machine's processes that have `word` as an argument. */
export function processesWith(word: string): readonly string[] {
  return globSync("/proc/[0-9]*/cmdline").flatMap((path) => {
    try {
      const argv = readFileSync(path, "utf8").split("\0");
      return argv.includes(word) ? [argv.join(" ")] : [];
    } catch {
      return [];
    }
  });
}

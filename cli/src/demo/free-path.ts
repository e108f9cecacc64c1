import { existsSync } from "node:fs";
import { format, parse } from "node:path";

/** Returns a path that does not exist: `report.md`, `report-2.md`, and so on. So the demo replaces no file of the user. */
export function freePath(path: string): string {
  const { dir, name, ext } = parse(path);
  let free = path;
  for (let number = 2; existsSync(free); number++) {
    free = format({ dir, name: `${name}-${number}`, ext });
  }
  return free;
}

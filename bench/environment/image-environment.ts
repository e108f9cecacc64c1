import { readFileSync } from "node:fs";
import { join } from "node:path";

const names = [
  "NODE_OPTIONS",
  "MALLOC_ARENA_MAX",
  "MALLOC_MMAP_THRESHOLD_",
  "MALLOC_TRIM_THRESHOLD_",
];

/** Returns the memory settings of the images, with which each service of a cluster runs. */
export function imageEnvironment(): Readonly<Record<string, string>> {
  const path = join(import.meta.dirname, "../../deploy/images/Dockerfile");
  const lines = readFileSync(path, "utf8").split("\n");
  const settings = names.map((name) => {
    const value = lines.map((line) => new RegExp(`^ENV .*\\b${name}=(\\S+)`).exec(line)?.[1]);
    const found = value.find((each) => each !== undefined);
    if (found === undefined) throw new Error(`${path} does not set ${name}`);
    return [name, found] as const;
  });
  return Object.fromEntries(settings);
}

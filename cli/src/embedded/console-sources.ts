import { createHash } from "node:crypto";
import { globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** What a build of the console depends on, relative to the root. The lockfile has the versions of all libraries. */
const inputs = [
  "console/{index.html,package.json,vite.config.ts}",
  "console/{public,src}/**/*",
  "packages/contracts/package.json",
  "packages/contracts/{gen,src}/**/*.ts",
  "packages/agent/package.json",
  "packages/agent/src/{media,permission,schema,tools,workflow}/**/*.ts",
  "package-lock.json",
];

/** Returns the files that a build of the console depends on, relative to `root`. */
export function consoleSources(root: string): readonly string[] {
  return globSync(inputs, { cwd: root })
    .filter((file) => !/\.test\.tsx?$/.test(file) && statSync(join(root, file)).isFile())
    .toSorted();
}

/** Returns a digest of the names and contents of all that a build of the console depends on. */
export function digestOfConsoleSources(root: string): string {
  const hash = createHash("sha256");
  for (const file of consoleSources(root)) {
    const content = readFileSync(join(root, file));
    hash.update(`${file} ${content.byteLength}\n`).update(content);
  }
  return hash.digest("hex");
}

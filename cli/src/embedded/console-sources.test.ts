import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { consoleSources } from "./console-sources.ts";

const root = join(import.meta.dirname, "../../..");

/** Returns the files of this repository that a file imports, relative to the root. Types alone are not in a build. */
function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(root, file), "utf8");
  const imports = text.matchAll(
    /^(?:import|export) (?!type )[^;]*?from "((?:\.|#|@reeve\/)[^"]*)";$/gm,
  );
  const { resolve } = createRequire(join(root, file));
  return [...imports].flatMap(([, name = ""]) =>
    name.endsWith(".css") ? [] : relative(root, resolve(name)),
  );
}

test("contains each module of other packages that the console imports, directly or not", () => {
  const sources = new Set(consoleSources(root));
  const seen = new Set([...sources].filter((file) => /^console\/src\/.*\.tsx?$/.test(file)));
  for (const file of seen) for (const each of importsOf(file)) seen.add(each);
  expect([...seen].filter((file) => !sources.has(file))).toEqual([]);
  expect([...seen].filter((file) => file.startsWith("packages/contracts/")).length).toBeGreaterThan(
    10,
  );
  expect(sources).toContain("package-lock.json");
});

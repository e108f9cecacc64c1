import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Where each published package has its version. */
export const declarations: readonly (readonly [file: string, pattern: RegExp])[] = [
  ["package.json", /^ {2}"version": "([^"]+)"/m],
  ["cli/package.json", /^ {2}"version": "([^"]+)"/m],
  ["packages/local/package.json", /^ {2}"version": "([^"]+)"/m],
  ["sdk/typescript/package.json", /^ {2}"version": "([^"]+)"/m],
  ["sdk/python/pyproject.toml", /^version = "([^"]+)"/m],
  ["sdk/rust/Cargo.toml", /^version = "([^"]+)"/m],
  ["sdk/java/pom.xml", /<version>([^<]+)<\/version>/],
];

/**
 * Returns the version of the release. Throws if the published packages have different versions, or CHANGELOG.md has no entry
 * for it. The Go module has its version in a tag.
 */
export function releaseVersion(root: string): string {
  const read = (file: string) => readFileSync(join(root, file), "utf8");
  const found = declarations.map(([file, pattern]) => {
    const [, version = "no version"] = pattern.exec(read(file)) ?? [];
    return { file, version };
  });
  const versions = new Set(found.map(({ version }) => version));
  const [version = ""] = versions;
  if (versions.size > 1) {
    const list = found.map((each) => `${each.file}: ${each.version}`).join(", ");
    throw new Error(`the packages of a release need one version; set it in: ${list}`);
  }
  if (!read("CHANGELOG.md").includes(`\n## ${version}\n`)) {
    throw new Error(`CHANGELOG.md has no entry "## ${version}"; add one`);
  }
  return version;
}

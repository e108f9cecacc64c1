import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { declarations, releaseVersion } from "./release-version.ts";

const root = join(import.meta.dirname, "../..");

/** A copy of the files with versions, with one of them changed. */
function copyWith(file: string, change: (text: string) => string): string {
  const copy = mkdtempSync(join(tmpdir(), "reeve-release-"));
  for (const each of [...declarations.map(([path]) => path), "CHANGELOG.md"]) {
    mkdirSync(dirname(join(copy, each)), { recursive: true });
    cpSync(join(root, each), join(copy, each));
  }
  writeFileSync(join(copy, file), change(readFileSync(join(copy, file), "utf8")));
  return copy;
}

test("the packages of this repository have one version, which the changelog describes", () => {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly version: string;
  };
  expect(releaseVersion(root)).toBe(version);
});

test.each(declarations.map(([file]) => file))(
  "a release with another version in %s is refused",
  (file) => {
    const copy = copyWith(file, (text) => text.replace("0.1.0", "9.9.9"));
    expect(() => releaseVersion(copy)).toThrow(`${file}: 9.9.9`);
  },
);

test("a release that the changelog does not describe is refused", () => {
  const copy = copyWith("CHANGELOG.md", () => "# Changelog\n");
  expect(() => releaseVersion(copy)).toThrow('CHANGELOG.md has no entry "## 0.1.0"');
});

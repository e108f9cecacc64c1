import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "bench/README.md",
  ...globSync("docs/*.md", { cwd: root }).toSorted(),
];
const folders = "bench|cli|deploy|docs|examples|packages|proto|scripts|sdk|services|test";

/** Returns the links of a page that lead nowhere: to a missing file, or to a heading that the target page does not have. */
function brokenLinks(page: string, text: string): readonly string[] {
  return [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = ""]) => link)
    .filter((link) => !/^[a-z]+:/.test(link))
    .filter((link) => {
      const [path = "", anchor = ""] = link.split("#");
      const target = path === "" ? page : normalize(join(dirname(page), path));
      if (!existsSync(join(root, target))) return true;
      return anchor !== "" && !anchorsOf(read(target)).has(anchor);
    });
}

/** Returns the paths in backticks that start with a folder of this repository and do not exist. `*` matches any name; `<name>` is a placeholder. */
function missingPaths(text: string): readonly string[] {
  const spans = [...withoutFences(text).matchAll(/`([^`\n]+)`/g)].map(([, span = ""]) => span);
  return spans
    .filter((span) => new RegExp(`^(${folders})/[\\w./*-]+$`).test(span))
    .filter((path) =>
      path.includes("*")
        ? globSync(path, { cwd: root }).length === 0
        : !existsSync(join(root, path)),
    );
}

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(text: string): ReadonlySet<string> {
  const headings = [...withoutFences(text).matchAll(/^#+ +(.+)$/gm)].map(([, title = ""]) => title);
  return new Set(
    headings.map((title) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

function withoutFences(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```/gm, "");
}

function withoutCode(text: string): string {
  return withoutFences(text).replaceAll(/`[^`\n]*`/g, "");
}

function read(path: string): string {
  return statSync(join(root, path)).isDirectory() ? "" : readFileSync(join(root, path), "utf8");
}

describe.each(pages)("%s", (page) => {
  test("has no broken relative link", () => {
    expect(brokenLinks(page, read(page))).toEqual([]);
  });

  test("names no path of the repository that does not exist", () => {
    expect(missingPaths(read(page))).toEqual([]);
  });
});

describe("the check", () => {
  test("finds a link to a missing file and one to a missing heading", () => {
    const text =
      "[a](gone.md) [b](glossary.md#gone) [c](glossary.md#runs) [d](https://example.org)";
    expect(brokenLinks("docs/x.md", text)).toEqual(["gone.md", "glossary.md#gone"]);
  });

  test("finds a path that does not exist, outside of code blocks", () => {
    const text =
      "`docs/gone.md` `docs/*.md` `packages/<name>/src` `npm test`\n```\n`docs/gone2.md`\n```\n";
    expect(missingPaths(text)).toEqual(["docs/gone.md"]);
  });
});

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";

const page = readFileSync(join(import.meta.dirname, "../../docs/architecture.md"), "utf8");
const section = page.split("## Three walkthroughs")[1]?.split("\n## ")[0] ?? "";
const walkthroughs = section.split("\n### ").slice(1);

function foldersIn(text: string): readonly string[] {
  return [...text.matchAll(/^\d+\. \[[^\]]+\]\(([^)]+)\)/gm)].map(([, path = ""]) => dirname(path));
}

describe("the walkthroughs of the architecture page", () => {
  test("are three", () => {
    expect(walkthroughs).toHaveLength(3);
  });

  test.each(walkthroughs.map((text) => [text.split("\n")[0], text] as const))(
    "%s: visits no folder twice",
    (_, text) => {
      const folders = foldersIn(text);
      expect(folders.length).toBeGreaterThan(4);
      expect(new Set(folders).size).toBe(folders.length);
    },
  );
});

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const docs = join(import.meta.dirname, "../../docs");
const page = readFileSync(join(docs, "security.md"), "utf8");

/** The rows of the table of threats: actor, threat, what stops it, and the tests. */
const rows = (page.split("## Threat model\n")[1] ?? "")
  .split("\n#", 1)
  .join("")
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .map((line) => line.split(" | ").map((cell) => cell.replaceAll(/^\| | \|$/g, "").trim()))
  .slice(2);

test("docs/security.md names for each threat who it comes from, what stops it, and tests that exist", () => {
  expect(rows.length).toBeGreaterThan(15);
  const problems = rows.flatMap(([actor = "", threat = "", mechanism = "", tests = ""]) => {
    const cited = [...tests.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)];
    const isComplete = [actor, threat, mechanism].every((cell) => cell !== "") && cited.length > 0;
    const absent = cited
      .filter(([, title = "", path = ""]) => !hasTest(join(docs, path), title))
      .map(([, title, path]) => `${threat}: no test "${title}" in ${path}`);
    return isComplete ? absent : [...absent, `${threat}: has an empty cell, or no test`];
  });
  expect(problems).toEqual([]);
});

function hasTest(path: string, title: string): boolean {
  return existsSync(path) && readFileSync(path, "utf8").includes(`"${title}"`);
}

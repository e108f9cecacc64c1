import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");

interface Row {
  readonly rule: string;
  readonly shown: readonly { readonly file: string; readonly name: string }[];
}

/** The rows of the first table that have a rule. */
const rows: readonly Row[] =
  readFileSync(join(root, "docs/requirements.md"), "utf8")
    .split("## The other rules")[0]
    ?.split("\n")
    .flatMap((line) => {
      const rule = /^\| ([A-Z]+-\d+)/.exec(line)?.[1];
      const shown = [...line.matchAll(/\]\(\.\.\/([^)]+)\) “([^”]+)”/g)];
      return rule === undefined
        ? []
        : [{ rule, shown: shown.map(([, file = "", name = ""]) => ({ file, name })) }];
    }) ?? [];

test("the table has the rules of the loop, each once", () => {
  expect(rows.length).toBeGreaterThan(60);
  expect(new Set(rows.map(({ rule }) => rule)).size).toBe(rows.length);
});

describe.each(rows)("$rule", ({ shown }) => {
  test("is shown by tests that there are", () => {
    expect(shown.length).toBeGreaterThan(0);
    const missing = shown.filter(
      ({ file, name }) => !readFileSync(join(root, file), "utf8").includes(name),
    );
    expect(missing).toEqual([]);
  });
});

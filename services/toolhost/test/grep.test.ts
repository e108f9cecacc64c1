import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { searchWorkspace } from "@reeve/sandbox/files/workspace-search";
import { skipReason } from "@reeve/sandbox/test/support/bubblewrap-here";
import type { SearchedWorkspace } from "./support/searched-workspace.ts";
import { searchedWorkspace } from "./support/searched-workspace.ts";
import { grepFiles } from "./support/default-tools.ts";
import { grepFiles as grepFilesUpTo } from "../src/tools/builtin/search-files.ts";

const signal = new AbortController().signal;
let workspace: SearchedWorkspace;

beforeAll(async () => {
  workspace = await searchedWorkspace(signal);
});

afterAll(() => workspace[Symbol.asyncDispose]());

describe.skipIf(skipReason !== "")(`grep${skipReason}`, () => {
  test("finds lines by file and number, and names what it did not search", async () => {
    expect(await workspace.found(grepFiles, { pattern: "[Tt]otal\\b" })).toEqual([
      ".hidden:1:total",
      "docs/readme.md:1:# Total",
      "src/app.ts:1:let total;",
      "src/deep/er/sums.py:1:total = 1",
      'src/main.py:2:print("Total")',
      "[binary, not searched: binary.bin]",
    ]);
  });

  test("searches one file, one folder, or files of one kind", async () => {
    expect(
      await workspace.found(grepFiles, { pattern: "TOTAL", ignore_case: true, path: "src" }),
    ).toHaveLength(3);
    expect(await workspace.found(grepFiles, { pattern: "^$", path: "docs/readme.md" })).toEqual([
      "docs/readme.md:2:",
    ]);
    expect(await workspace.found(grepFiles, { pattern: "o", glob: "*.{md,ts}" })).toEqual([
      "docs/readme.md:1:# Total",
      "docs/readme.md:3:nothing",
      "src/app.ts:1:let total;",
    ]);
    expect(
      await workspace.found(grepFiles, { pattern: "o", glob: "deep/**/*.py", path: "src" }),
    ).toEqual(["src/deep/er/sums.py:1:total = 1"]);
    expect(await workspace.found(grepFiles, { pattern: "absent", path: "src" })).toEqual([
      "[no line matches]",
    ]);
    expect(await workspace.found(grepFiles, { pattern: "x", path: "binary.bin" })).toEqual([
      "[no line matches]",
      "[binary, not searched: binary.bin]",
    ]);
  });

  test("returns as many lines as requested, and reports that there are more", async () => {
    await workspace.prepare("seq 1 5000 > numbers");
    const lines = await workspace.found(grepFiles, {
      pattern: "1",
      path: "numbers",
      max_results: 3,
    });
    expect(lines).toEqual([
      "numbers:1:1",
      "numbers:10:10",
      "numbers:11:11",
      "[truncated after 3 lines; use a deeper path or a narrower pattern]",
    ]);
    expect(await workspace.found(grepFiles, { pattern: ".", path: "numbers" })).toHaveLength(101);
    expect(
      await workspace.found(grepFiles, { pattern: "^5000$", path: "numbers", max_results: 1 }),
    ).toEqual(["numbers:5000:5000"]);
    await workspace.prepare("rm numbers");
  });

  test("shows the part of a long line that matches, on one line", async () => {
    await workspace.prepare(
      "(head -c 1000000 /dev/zero | tr '\\0' a; printf 'needle\\033[2J\\rforged:1:x'; head -c 1000 /dev/zero | tr '\\0' b) > long",
    );
    const [line = "", ...more] = await workspace.found(grepFiles, {
      pattern: "needle",
      path: "long",
    });
    expect(more).toEqual([]);
    expect(line).toMatch(/^long:1:…a+needle\uFFFD\[2J\uFFFDforged:1:xb+…$/);
    expect(line.length).toBeLessThan(320);
    await workspace.prepare("rm long");
  });

  // Requirement: KIT-2
  test("skips files that are too large or not readable, and reports them", async () => {
    await workspace.prepare("mkdir big; truncate -s 10000001 big/a; echo x > big/b; chmod 0 big/b");
    expect(await workspace.found(grepFiles, { pattern: "x", path: "big" })).toEqual([
      "[no line matches]",
      "[larger than 10000000 bytes, not searched: big/a]",
      "[not readable: big/b]",
    ]);
    await workspace.prepare("rm -r big");
  });

  // Requirement: KIT-2
  test("skips files over the limit of its operator, which its description names", async () => {
    await workspace.prepare("mkdir small; echo x > small/a; truncate -s 2001 small/b");
    const grep = grepFilesUpTo(2_000);
    expect(grep.descriptor.description).toContain("Files over 2000 bytes are skipped");
    expect(await workspace.found(grep, { pattern: "x", path: "small" })).toEqual([
      "small/a:1:x",
      "[larger than 2000 bytes, not searched: small/b]",
    ]);
    await workspace.prepare("rm -r small");
  });

  test.each([
    ["(", "is not a valid regular expression"],
    ["*a", "is not a valid regular expression"],
    ["(?P<n>a)(?P<n>b)", "is not a valid regular expression"],
    ["(".repeat(500) + ")".repeat(500), ""],
  ])("refuses the pattern %.20j", async (pattern, why) => {
    const [refused = ""] = await workspace.found(grepFiles, { pattern, path: "src" });
    expect(refused).toContain(why);
  });

  test("ends after its time limit with a pattern that never ends, and returns what it found", async () => {
    await workspace.prepare(
      "mkdir bomb; echo aab > bomb/1; (head -c 40 /dev/zero | tr '\\0' a; echo !) > bomb/2",
    );
    const outcome = await searchWorkspace(
      workspace.sandbox,
      {
        operation: "grep",
        path: "bomb",
        pattern: "^(a+)+b",
        glob: null,
        ignore_case: false,
        most: 10,
      },
      1_000,
      signal,
    );
    expect(outcome).toMatchObject({
      kind: "refused",
      reason: "bomb/1:1:aab\n[ended after the time limit of 1 s]",
      end: { reason: "timeout" },
    });
    await workspace.prepare("rm -r bomb");
  });
});

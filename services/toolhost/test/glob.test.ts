import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { globFiles } from "../src/tools/builtin/search-files.ts";
import { skipReason } from "@reeve/sandbox/test/support/bubblewrap-here";
import type { SearchedWorkspace } from "./support/searched-workspace.ts";
import { searchedWorkspace } from "./support/searched-workspace.ts";

const signal = new AbortController().signal;
let workspace: SearchedWorkspace;

beforeAll(async () => {
  workspace = await searchedWorkspace(signal);
});

afterAll(() => workspace[Symbol.asyncDispose]());

describe.skipIf(skipReason !== "")(`glob${skipReason}`, () => {
  test.each([
    ["*.py", []],
    ["**/*.py", ["src/deep/er/sums.py", "src/main.py"]],
    ["src/*", ["src/app.ts", "src/deep/", "src/main.py"]],
    ["src/**/sums.py", ["src/deep/er/sums.py"]],
    ["src/**/main.py", ["src/main.py"]],
    ["src/**", ["src/app.ts", "src/deep/", "src/deep/er/", "src/deep/er/sums.py", "src/main.py"]],
    ["**/*.{py,ts}", ["link.ts", "src/app.ts", "src/deep/er/sums.py", "src/main.py"]],
    ["{src,docs}/*.{md,ts}", ["docs/readme.md", "src/app.ts"]],
    ["./src//main.py", ["src/main.py"]],
    ["src/[am]*.[!p]*", ["src/app.ts"]],
    ["???", ["src/"]],
    [".h*", [".hidden"]],
    ["self/**", []],
    ["zones/*", []],
    ["**/**/**/er", ["src/deep/er/"]],
  ])("finds files by %s", async (pattern, paths) => {
    const lines = await workspace.found(globFiles, { pattern });
    const wanted = paths.length > 0 ? paths : [`[no path in . matches ${pattern}]`];
    expect(lines.map((line) => line.replace(/ \((\d+ bytes|link)\)$/, ""))).toEqual(wanted);
  });

  test("starts in the given folder", async () => {
    expect(await workspace.found(globFiles, { pattern: "**/*.py", path: "src/deep" })).toEqual([
      "src/deep/er/sums.py (10 bytes)",
    ]);
  });

  // Requirement: KIT-7
  test.each([
    ["/etc/*", /absolute/],
    ["//etc/*", /absolute/],
    ["{/etc/*,x}", /absolute/],
    ["{x,/etc}/*", /absolute/],
    ["../*", /points outside/],
    ["src/../../*", /points outside/],
    ["{..,src}/*", /points outside/],
    [".{.,}/*", /points outside/],
    ["/", /absolute/],
    [".", /empty/],
    ["{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", /more than 64/],
    ["a\0b", /empty or invalid/],
  ])("refuses %j", async (pattern, why) => {
    const [refused = ""] = await workspace.found(globFiles, { pattern });
    expect(refused).toMatch(/^refused: /);
    expect(refused).toMatch(why);
  });

  test.each(["*".repeat(500) + "x", "**/".repeat(300) + "x", "*a".repeat(400), "[".repeat(999)])(
    "ends soon with the pattern %.10s…",
    async (pattern) => {
      await workspace.prepare(`touch ${"a".repeat(250)}`);
      expect(await workspace.found(globFiles, { pattern })).toEqual([
        `[no path in . matches ${pattern}]`,
      ]);
      await workspace.prepare(`rm ${"a".repeat(250)}`);
    },
  );
});

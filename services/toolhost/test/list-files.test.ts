import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listFiles } from "../src/tools/builtin/search-files.ts";
import { skipReason } from "@reeve/sandbox/test/support/bubblewrap-here";
import type { SearchedWorkspace } from "./support/searched-workspace.ts";
import { searchedWorkspace } from "./support/searched-workspace.ts";
import { grepFiles } from "./support/default-tools.ts";

const signal = new AbortController().signal;
let workspace: SearchedWorkspace;

beforeAll(async () => {
  workspace = await searchedWorkspace(signal);
});

afterAll(() => workspace[Symbol.asyncDispose]());

describe.skipIf(skipReason !== "")(`list_files${skipReason}`, () => {
  test("lists the entries of a folder with their kinds", async () => {
    expect(await workspace.found(listFiles, {})).toEqual([
      ".hidden (5 bytes)",
      "binary.bin (11 bytes)",
      "docs/",
      "empty/",
      "link.ts (link)",
      "odd names/",
      "pipe (special file)",
      "self (link)",
      "src/",
      "zones (link)",
    ]);
    expect(await workspace.found(listFiles, { path: "docs" })).toEqual([
      "docs/etc (link)",
      "docs/readme.md (17 bytes)",
    ]);
    expect(await workspace.found(listFiles, { path: "empty" })).toEqual(["[empty is empty]"]);
  });

  test("lists subfolders on request, without following links", async () => {
    expect(await workspace.found(listFiles, { path: "src", recursive: true })).toEqual([
      "src/app.ts (11 bytes)",
      "src/deep/",
      "src/deep/er/",
      "src/deep/er/sums.py (10 bytes)",
      "src/main.py (25 bytes)",
    ]);
    const all = await workspace.found(listFiles, { recursive: true });
    expect(all.filter((line) => /^(self|zones|docs\/etc)\//.test(line))).toEqual([]);
  });

  test("reports when there are more entries than it lists", async () => {
    await workspace.prepare("mkdir -p many; cd many; seq 1 1001 | xargs touch");
    const lines = await workspace.found(listFiles, { path: "many" });
    expect(lines).toHaveLength(1_001);
    expect(lines.at(-1)).toMatch(/^\[truncated after 1000 entries/);
    await workspace.prepare("rm many/1001");
    expect(await workspace.found(listFiles, { path: "many" })).toHaveLength(1_000);
    await workspace.prepare("rm -r many");
  });

  test("lists each name on one line, whatever it contains", async () => {
    const names = ["a\\nb (5 bytes)", "esc\\x1b[2J", "bad\\xff", "right\\u202eleft", "ünï"];
    const python = names.map((name) => `open(b"odd names/" + ${bytesOf(name)}, "w")`).join(";");
    await workspace.prepare(`python3 -c '${python}'`);
    expect(await workspace.found(listFiles, { path: "odd names" })).toEqual([
      "odd names/a\\nb (5 bytes) (0 bytes)",
      "odd names/bad\\udcff (0 bytes)",
      "odd names/esc\\x1b[2J (0 bytes)",
      "odd names/right\\u202eleft (0 bytes)",
      "odd names/ünï (0 bytes)",
    ]);
  });

  test("names what it cannot read", async () => {
    await workspace.prepare(
      "mkdir -p shut/a shut/b; touch shut/a/x shut/b/x; chmod 600 shut/a; chmod 0 shut/b",
    );
    expect(await workspace.found(listFiles, { path: "shut", recursive: true })).toEqual([
      "shut/a/",
      "shut/b/",
      "[not readable: shut/a/x, shut/b]",
    ]);
    expect(await workspace.found(grepFiles, { path: "shut", pattern: "x" })).toEqual([
      "[no line matches]",
      "[not readable: shut/a/x, shut/b]",
    ]);
    await workspace.prepare("chmod 700 shut/*; rm -r shut");
  });

  test("skips entries that are nested too deeply, and reports that", async () => {
    await workspace.prepare(`python3 -c '
import os
for _ in range(400):
    os.mkdir("nest"); os.chdir("nest")
'`);
    const lines = await workspace.found(listFiles, { path: "nest", recursive: true });
    expect(lines.length).toBeLessThan(110);
    expect(lines.at(-1)).toMatch(/^\[nested too deeply: nest\/nest/);
    await workspace.prepare("rm -r nest");
  });
});

function bytesOf(escaped: string): string {
  return `"${escaped}".encode("utf-8", "surrogateescape")`.replace("\\xff", "\\udcff");
}

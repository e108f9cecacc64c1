import { PermissionClass } from "@reeve/contracts/tool";
import { afterAll, beforeAll, expect, test } from "vitest";
import { collect } from "@reeve/sandbox/files/collect";
import { globFiles, listFiles } from "../src/tools/builtin/search-files.ts";
import { programs } from "@reeve/sandbox/programs/programs";
import { commandOf } from "@reeve/sandbox/test/support/bubblewrap-here";
import { onEachGround } from "./support/sandboxed-workspace.ts";
import type { SearchedWorkspace } from "./support/searched-workspace.ts";
import { searchedWorkspace } from "./support/searched-workspace.ts";
import { grepFiles } from "./support/default-tools.ts";

const signal = new AbortController().signal;
test("search tools are idempotent, and run in parallel with other calls", () => {
  for (const { descriptor } of [listFiles, globFiles, grepFiles]) {
    expect(descriptor).toMatchObject({
      permissionClass: PermissionClass.WORKSPACE_WRITE,
      exclusiveLock: "",
      idempotent: true,
    });
  }
});

const outside: readonly (readonly [path: string, why: RegExp])[] = [
  ["..", /outside/],
  ["/", /outside/],
  ["/etc", /outside/],
  ["docs/etc", /outside/],
  ["zones", /outside/],
  ["src/../../proc", /outside/],
  ["nothing", /does not exist/],
  ["pipe", /Not a directory/],
  ["src/main.py/x", /Not a directory/],
  ["a\0b", /empty or invalid/],
];

onEachGround("every search", (ground) => {
  let workspace: SearchedWorkspace;

  beforeAll(async () => {
    workspace = await searchedWorkspace(signal, ground);
  });

  afterAll(() => workspace[Symbol.asyncDispose]());

  test.each(outside)("refuses the path %j", async (path, why) => {
    for (const tool of [listFiles, globFiles, grepFiles]) {
      const [refused = ""] = await workspace.found(tool, { path, pattern: "x" });
      expect(refused).toMatch(/^refused: /);
      expect(refused).toMatch(why);
    }
  });

  test("does not follow a folder or a file that becomes a link meanwhile", async () => {
    await workspace.prepare(
      "mkdir -p trap/a trap/z away; echo secret > away/f; echo mine > trap/z/f",
    );
    const prelude = `
import os
listed = os.scandir
def swapping(folder):
    found = list(listed(folder))
    names = [entry.name for entry in found]
    if "a" in names and os.path.isdir("trap/a"):
        os.rename("trap/a", "trap-a"); os.symlink("../away", "trap/a")
    if "f" in names:
        os.remove("trap/z/f"); os.symlink("../../away/f", "trap/z/f")
    class Found(list):
        __enter__ = lambda self: self
        __exit__ = lambda self, *_: None
    return Found(found)
os.scandir = swapping
`;
    const request = {
      operation: "grep",
      path: "trap",
      pattern: ".",
      glob: null,
      ignore_case: false,
      most: 10,
      most_bytes: 1_000,
    };
    const argv = ["python3", "-I", "-c", prelude + programs.workspace_search];
    const command = commandOf(...argv, JSON.stringify(request));
    const { end, text } = await collect(workspace.commands, command, signal);
    expect([end.code, text("stderr")]).toEqual([0, ""]);
    expect(text("stdout")).toBe("[no line matches]\n[not readable: trap/a, trap/z/f]\n");
  });
});

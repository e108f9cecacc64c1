import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "@bufbuild/protobuf";
import { PermissionClass } from "@reeve/contracts/tool";
import { collect } from "../src/app/collect.ts";
import { globFiles, grepFiles, listFiles } from "../src/app/tools/search-files.ts";
import { searchWorkspace } from "../src/app/workspace-search.ts";
import type { Tool } from "../src/ports/tool.ts";
import { programs } from "../src/sandboxed/programs.ts";
import type { SandboxedWorkspace } from "./support/sandboxed-workspace.ts";
import { commandOf, sandboxedWorkspace, whyNoSandbox } from "./support/sandboxed-workspace.ts";

const signal = AbortSignal.timeout(100_000);
let workspace: SandboxedWorkspace;

beforeAll(async () => {
  workspace = await sandboxedWorkspace(signal);
  await workspace.prepare(`
mkdir -p src/deep/er docs 'odd names' empty
printf 'import os\\nprint("Total")\\n' > src/main.py
printf 'total = 1\\n' > src/deep/er/sums.py
printf 'let total;\\n' > src/app.ts
printf '# Total\\n\\nnothing\\n' > docs/readme.md
printf 'total' > .hidden
printf 'total\\0total' > binary.bin
ln -s ../../../etc docs/etc
ln -s /usr/share/zoneinfo zones
ln -s . self
ln -s src/app.ts link.ts
mkfifo pipe`);
});

afterAll(() => workspace[Symbol.asyncDispose]());

/** The lines that a search gives, or a single one that says why it was refused. */
async function found(tool: Tool, args: JsonObject): Promise<readonly string[]> {
  const { content, isError } = await workspace.call(tool, args);
  expect(content).not.toContain("Traceback");
  return isError ? [`refused: ${content}`] : content.split("\n");
}

test("searching changes nothing, so it may be done again and beside others", () => {
  for (const { descriptor } of [listFiles, globFiles, grepFiles]) {
    expect(descriptor).toMatchObject({
      permissionClass: PermissionClass.WORKSPACE_WRITE,
      exclusiveLock: "",
      idempotent: true,
    });
  }
});

describe.skipIf(whyNoSandbox !== "")(`list_files${whyNoSandbox}`, () => {
  test("tells what lies in a folder, and of what kind it is", async () => {
    expect(await found(listFiles, {})).toEqual([
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
    expect(await found(listFiles, { path: "docs" })).toEqual([
      "docs/etc (link)",
      "docs/readme.md (17 bytes)",
    ]);
    expect(await found(listFiles, { path: "empty" })).toEqual(["[empty is empty]"]);
  });

  test("tells what lies below on request, without following links", async () => {
    expect(await found(listFiles, { path: "src", recursive: true })).toEqual([
      "src/app.ts (11 bytes)",
      "src/deep/",
      "src/deep/er/",
      "src/deep/er/sums.py (10 bytes)",
      "src/main.py (25 bytes)",
    ]);
    const all = await found(listFiles, { recursive: true });
    expect(all.filter((line) => /^(self|zones|docs\/etc)\//.test(line))).toEqual([]);
  });

  test("says when there is more than it tells", async () => {
    await workspace.prepare("mkdir -p many; cd many; seq 1 1001 | xargs touch");
    const lines = await found(listFiles, { path: "many" });
    expect(lines).toHaveLength(1_001);
    expect(lines.at(-1)).toMatch(/^\[cut: there are more than these 1000/);
    await workspace.prepare("rm many/1001");
    expect(await found(listFiles, { path: "many" })).toHaveLength(1_000);
    await workspace.prepare("rm -r many");
  });

  test("tells each name on one line, whatever is in it", async () => {
    const names = ["a\\nb (5 bytes)", "esc\\x1b[2J", "bad\\xff", "right\\u202eleft", "ünï"];
    const python = names.map((name) => `open(b"odd names/" + ${bytesOf(name)}, "w")`).join(";");
    await workspace.prepare(`python3 -c '${python}'`);
    expect(await found(listFiles, { path: "odd names" })).toEqual([
      "odd names/a\\nb (5 bytes) (0 bytes)",
      "odd names/bad\\udcff (0 bytes)",
      "odd names/esc\\x1b[2J (0 bytes)",
      "odd names/right\\u202eleft (0 bytes)",
      "odd names/ünï (0 bytes)",
    ]);
  });

  test("names what it may not look at", async () => {
    await workspace.prepare(
      "mkdir -p shut/a shut/b; touch shut/a/x shut/b/x; chmod 600 shut/a; chmod 0 shut/b",
    );
    expect(await found(listFiles, { path: "shut", recursive: true })).toEqual([
      "shut/a/",
      "shut/b/",
      "[not readable: shut/a/x, shut/b]",
    ]);
    expect(await found(grepFiles, { path: "shut", pattern: "x" })).toEqual([
      "[no line matches]",
      "[not readable: shut/a/x, shut/b]",
    ]);
    await workspace.prepare("chmod 700 shut/*; rm -r shut");
  });

  test("leaves out what is nested too deeply, and says so", async () => {
    await workspace.prepare(`python3 -c '
import os
for _ in range(400):
    os.mkdir("nest"); os.chdir("nest")
'`);
    const lines = await found(listFiles, { path: "nest", recursive: true });
    expect(lines.length).toBeLessThan(110);
    expect(lines.at(-1)).toMatch(/^\[nested too deeply: nest\/nest/);
    await workspace.prepare("rm -r nest");
  });
});

describe.skipIf(whyNoSandbox !== "")(`glob${whyNoSandbox}`, () => {
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
  ])("finds by %s", async (pattern, paths) => {
    const lines = await found(globFiles, { pattern });
    const wanted = paths.length > 0 ? paths : [`[nothing in . matches ${pattern}]`];
    expect(lines.map((line) => line.replace(/ \((\d+ bytes|link)\)$/, ""))).toEqual(wanted);
  });

  test("begins where it is told", async () => {
    expect(await found(globFiles, { pattern: "**/*.py", path: "src/deep" })).toEqual([
      "src/deep/er/sums.py (10 bytes)",
    ]);
  });

  test.each([
    ["/etc/*", /absolute/],
    ["//etc/*", /absolute/],
    ["{/etc/*,x}", /absolute/],
    ["{x,/etc}/*", /absolute/],
    ["../*", /leads out/],
    ["src/../../*", /leads out/],
    ["{..,src}/*", /leads out/],
    [".{.,}/*", /leads out/],
    ["/", /absolute/],
    [".", /empty/],
    ["{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", /more than 64/],
    ["a\0b", /not valid/],
  ])("refuses %j", async (pattern, why) => {
    const [refused = ""] = await found(globFiles, { pattern });
    expect(refused).toMatch(/^refused: /);
    expect(refused).toMatch(why);
  });

  test.each(["*".repeat(500) + "x", "**/".repeat(300) + "x", "*a".repeat(400), "[".repeat(999)])(
    "is not held up by the pattern %.10s…",
    async (pattern) => {
      await workspace.prepare(`touch ${"a".repeat(250)}`);
      expect(await found(globFiles, { pattern })).toEqual([`[nothing in . matches ${pattern}]`]);
      await workspace.prepare(`rm ${"a".repeat(250)}`);
    },
  );
});

describe.skipIf(whyNoSandbox !== "")(`grep${whyNoSandbox}`, () => {
  test("finds lines by file and number, and names what it did not search", async () => {
    expect(await found(grepFiles, { pattern: "[Tt]otal\\b" })).toEqual([
      ".hidden:1:total",
      "docs/readme.md:1:# Total",
      "src/app.ts:1:let total;",
      "src/deep/er/sums.py:1:total = 1",
      'src/main.py:2:print("Total")',
      "[binary, not searched: binary.bin]",
    ]);
  });

  test("looks in one file, in one folder, or in files of a kind", async () => {
    expect(
      await found(grepFiles, { pattern: "TOTAL", ignore_case: true, path: "src" }),
    ).toHaveLength(3);
    expect(await found(grepFiles, { pattern: "^$", path: "docs/readme.md" })).toEqual([
      "docs/readme.md:2:",
    ]);
    expect(await found(grepFiles, { pattern: "o", glob: "*.{md,ts}" })).toEqual([
      "docs/readme.md:1:# Total",
      "docs/readme.md:3:nothing",
      "src/app.ts:1:let total;",
    ]);
    expect(await found(grepFiles, { pattern: "o", glob: "deep/**/*.py", path: "src" })).toEqual([
      "src/deep/er/sums.py:1:total = 1",
    ]);
    expect(await found(grepFiles, { pattern: "absent", path: "src" })).toEqual([
      "[no line matches]",
    ]);
    expect(await found(grepFiles, { pattern: "x", path: "binary.bin" })).toEqual([
      "[no line matches]",
      "[binary, not searched: binary.bin]",
    ]);
  });

  test("gives as many lines as it is asked for, and says that there are more", async () => {
    await workspace.prepare("seq 1 5000 > numbers");
    const lines = await found(grepFiles, { pattern: "1", path: "numbers", max_results: 3 });
    expect(lines).toEqual([
      "numbers:1:1",
      "numbers:10:10",
      "numbers:11:11",
      "[cut: there are more than these 3 lines; ask for a deeper path or a narrower pattern]",
    ]);
    expect(await found(grepFiles, { pattern: ".", path: "numbers" })).toHaveLength(101);
    expect(await found(grepFiles, { pattern: "^5000$", path: "numbers", max_results: 1 })).toEqual([
      "numbers:5000:5000",
    ]);
    await workspace.prepare("rm numbers");
  });

  test("shows the part of a long line that matches, on one line", async () => {
    await workspace.prepare(
      "(head -c 1000000 /dev/zero | tr '\\0' a; printf 'needle\\033[2J\\rforged:1:x'; head -c 1000 /dev/zero | tr '\\0' b) > long",
    );
    const [line = "", ...more] = await found(grepFiles, { pattern: "needle", path: "long" });
    expect(more).toEqual([]);
    expect(line).toMatch(/^long:1:…a+needle\uFFFD\[2J\uFFFDforged:1:xb+…$/);
    expect(line.length).toBeLessThan(320);
    await workspace.prepare("rm long");
  });

  test("leaves files out that are too large or not to be read, and says so", async () => {
    await workspace.prepare("mkdir big; truncate -s 10000001 big/a; echo x > big/b; chmod 0 big/b");
    expect(await found(grepFiles, { pattern: "x", path: "big" })).toEqual([
      "[no line matches]",
      "[larger than 10000000 bytes, not searched: big/a]",
      "[not readable: big/b]",
    ]);
    await workspace.prepare("rm -r big");
  });

  test.each([
    ["(", "is no regular expression"],
    ["*a", "is no regular expression"],
    ["(?P<n>a)(?P<n>b)", "is no regular expression"],
    ["(".repeat(500) + ")".repeat(500), ""],
  ])("refuses the pattern %.20j", async (pattern, why) => {
    const [refused = ""] = await found(grepFiles, { pattern, path: "src" });
    expect(refused).toContain(why);
  });

  test("is ended with its time when a pattern never comes to an end, and gives what it found", async () => {
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
  ["a\0b", /not valid/],
];

describe.skipIf(whyNoSandbox !== "")(`every search${whyNoSandbox}`, () => {
  test.each(outside)("refuses the path %j", async (path, why) => {
    for (const tool of [listFiles, globFiles, grepFiles]) {
      const [refused = ""] = await found(tool, { path, pattern: "x" });
      expect(refused).toMatch(/^refused: /);
      expect(refused).toMatch(why);
    }
  });

  test("does not enter a folder that becomes a link under it, nor read a file that does", async () => {
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
    const { end, text } = await collect(workspace.sandbox, command, signal);
    expect([end.code, text("stderr")]).toEqual([0, ""]);
    expect(text("stdout")).toBe("[no line matches]\n[not readable: trap/a, trap/z/f]\n");
  });
});

function bytesOf(escaped: string): string {
  return `"${escaped}".encode("utf-8", "surrogateescape")`.replace("\\xff", "\\udcff");
}

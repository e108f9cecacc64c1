import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { collect } from "@reeve/sandbox/files/collect";
import { editFile } from "../src/tools/builtin/edit-file.ts";
import { writeFile as writeFileTool } from "../src/tools/builtin/write-file.ts";
import { writeFile } from "@reeve/sandbox/files/workspace-files";
import { programs } from "@reeve/sandbox/programs/programs";
import type { SandboxedWorkspace } from "./support/sandboxed-workspace.ts";
import { commandOf } from "@reeve/sandbox/test/support/bubblewrap-here";
import { onEachGround, sandboxedWorkspace } from "./support/sandboxed-workspace.ts";
import { readFile } from "./support/default-tools.ts";
import { readFile as readFileUpTo } from "../src/tools/builtin/read-file.ts";

const signal = new AbortController().signal;

const refusals: readonly (readonly [path: string, why: RegExp])[] = [
  ["../escape.txt", /outside/],
  ["a/../../escape.txt", /outside/],
  ["/etc/passwd", /outside/],
  ["/workspace/../etc/passwd", /outside/],
  ["/workspace_of_another/x", /outside/],
  ["/proc/self/environ", /outside/],
  ["to-etc/ld.so.conf", /outside/],
  ["to-file", /outside/],
  ["chain", /outside/],
  ["loop", /Too many levels/],
  ["pipe", /not a regular file|No such device/],
  ["socket", /No such device|not a regular file/],
  ["folder", /folder/],
  [".", /folder/],
  ["file/below", /Not a directory/],
  ["x".repeat(300), /name too long/],
  ["nul\0.txt", /empty or invalid/],
  ["\ud800", /unpaired surrogates/],
];

onEachGround("file tools", (ground) => {
  let workspace: SandboxedWorkspace;

  beforeAll(async () => {
    workspace = await sandboxedWorkspace(signal, ground);
  });

  afterAll(() => workspace[Symbol.asyncDispose]());

  async function contentOf(path: string): Promise<string> {
    return (await workspace.sh(`cat '${path}'`)).text("stdout");
  }

  /** Replaces a part of a file, and returns what the model reads. */
  async function edited(path: string, old: string, other: string, expected?: number) {
    const { content, isError } = await workspace.call(editFile, {
      path,
      old_text: old,
      new_text: other,
      ...(expected !== undefined && { expected_occurrences: expected }),
    });
    return isError ? `refused: ${content}` : content;
  }

  describe("edit_file", () => {
    // Requirement: KIT-2
    test("replaces the first occurrence, and reports its line and the number of occurrences", async () => {
      await workspace.prepare(
        "mkdir -p a; printf 'one\\ntwo\\ntwo\\n' > a/b.txt; chmod 640 a/b.txt",
      );
      expect(await edited("a/b.txt", "two", "2\nzwei")).toBe(
        "replaced the first of 2 occurrences, at line 2 of a/b.txt",
      );
      expect(await contentOf("a/b.txt")).toBe("one\n2\nzwei\ntwo\n");
      expect(await edited("/workspace/a/b.txt", "one\n", "", 1)).toContain("the only occurrence");
      expect(await contentOf("a/b.txt")).toBe("2\nzwei\ntwo\n");
      expect((await workspace.sh("stat -c %a a/b.txt; ls -A a")).text("stdout")).toBe(
        "640\nb.txt\n",
      );
    });

    test("changes nothing when the text does not occur, or not as often as expected", async () => {
      await workspace.prepare("printf 'aXbXc' > x.txt; printf 'a\\r\\nb\\r\\n' > dos.txt");
      expect(await edited("x.txt", "Y", "Z")).toBe("refused: old_text does not occur in x.txt");
      expect(await edited("x.txt", "X", "Z", 1)).toMatch(/^refused: .* 2 times .* not 1 times/);
      expect(await edited("dos.txt", "a\nb", "c")).toMatch(/its lines end with \\r\\n$/);
      expect(await contentOf("x.txt")).toBe("aXbXc");
    });

    test("accepts texts that are longer than an argument may be, and any character", async () => {
      await workspace.prepare("printf 'Grüße, 世界 {}' > long.txt");
      const long = "ü\"'\\${x}\n".repeat(100_000);
      expect(await edited("long.txt", "世界", long)).toContain("the only occurrence");
      expect(await edited("long.txt", long, "Welt")).toContain("the only occurrence");
      expect(await contentOf("long.txt")).toBe("Grüße, Welt {}");
      expect(await edited("long.txt", "\ud800", "x")).toMatch(/^refused: .* unpaired surrogates/);
    });

    test("does not change bytes that are not UTF-8", async () => {
      await workspace.prepare("printf 'a\\377b\\377c' > latin.txt");
      expect(await edited("latin.txt", "b", "B")).toContain("the only occurrence");
      const { text } = await workspace.sh("od -An -c latin.txt");
      expect(text("stdout").trim().split(/\s+/)).toEqual(["a", "377", "B", "377", "c"]);
    });

    test("follows a link within the workspace, and keeps it a link", async () => {
      await workspace.prepare("echo here > target.txt; ln -sfn target.txt inner");
      expect(await edited("inner", "here", "there")).toContain("the only occurrence");
      expect(await contentOf("target.txt")).toBe("there\n");
      expect((await workspace.sh("readlink inner")).text("stdout")).toBe("target.txt\n");
    });

    // Requirement: KIT-2
    test("does nothing in a workspace that is read-only", async () => {
      await workspace.prepare("echo text > kept.txt");
      for (const tool of [editFile, writeFileTool]) {
        const args = { path: "kept.txt", old_text: "text", new_text: "x", content: "x" };
        const outcome = await workspace.call(tool, args, { readOnly: true });
        expect(outcome.isError).toBe(true);
        expect(outcome.content).toContain("read-only");
      }
      expect(await contentOf("kept.txt")).toBe("text\n");
    });

    test("locks the workspace, as write_file does, and is not idempotent", () => {
      expect(editFile.descriptor).toMatchObject({ exclusiveLock: "workspace", idempotent: false });
      expect(writeFileTool.descriptor).toMatchObject({ exclusiveLock: "workspace" });
    });
  });

  describe("every file tool", () => {
    beforeAll(async () => {
      const socket = `import socket; socket.socket(socket.AF_UNIX).bind("socket")`;
      await workspace.prepare(
        `ln -sfn /etc to-etc; ln -sfn /usr/bin/env to-file; ln -sfn to-file chain; ln -sfn loop loop
       mkfifo pipe; mkdir -p folder; echo x > file; python3 -c '${socket}'`,
      );
    });

    // Requirement: KIT-7, PERM-5
    test.each(refusals)("refuses the path %j", async (path, why) => {
      for (const tool of [readFile, editFile, writeFileTool]) {
        const args = { path, old_text: "x", new_text: "y", content: "y" };
        const outcome = await workspace.call(tool, args);
        expect(outcome.isError).toBe(true);
        expect(outcome.content).toMatch(why);
        expect(outcome.content).not.toContain("Traceback");
      }
    });

    // Requirement: KIT-2
    test("refuses a file that is too large or not text", async () => {
      await workspace.prepare("truncate -s 400M huge; printf 'a\\0b' > binary");
      expect(await edited("huge", "a", "b")).toMatch(/exceeds the 10000000 bytes/);
      expect(await edited("binary", "a", "b")).toMatch(/not a text file/);
      const read = await workspace.call(readFile, { path: "huge" });
      expect(read.content).toMatch(/419430400 bytes, but at most 1000000/);
      await workspace.prepare("rm huge");
    });

    // Requirement: KIT-2
    test("reads up to the limit of its operator, which its description names", async () => {
      await workspace.prepare("yes | head -c 2001 > over; head -c 2000 over > within");
      const read = readFileUpTo(2_000);
      expect(read.descriptor.description).toContain("at most 2000 bytes");
      const refused = await workspace.call(read, { path: "over" });
      expect(refused.content).toMatch(/2001 bytes, but at most 2000/);
      expect(await workspace.call(read, { path: "within" })).toMatchObject({ isError: false });
      await workspace.prepare("rm over within");
    });
  });

  /** Runs a command when `name` of Python's os is called: between a check and the use that follows. */
  async function raced(request: object, name: string, what: string) {
    const prelude = `
import os
module = os.path if hasattr(os.path, "${name}") else os
done = getattr(module, "${name}")
def between(*given, **named):
    found = done(*given, **named)
    setattr(module, "${name}", done)
    ${what}
    return found
setattr(module, "${name}", between)
`;
    const argv = ["python3", "-I", "-c", prelude + programs.workspace_files];
    const command = commandOf(...argv, JSON.stringify(request));
    const stdin = Buffer.from(JSON.stringify({ old_text: "mine", new_text: "changed" }));
    return await collect(workspace.commands, { ...command, stdin }, signal);
  }

  // Requirement: KIT-7
  describe("between a check of a path and its use", () => {
    const read = { operation: "read", path: "box/f", offset: 0, limit: null, most: 1_000 };
    const write = { operation: "write", path: "box/f" };
    const dump = { operation: "dump", path: "box/f" };
    const edit = { operation: "edit", path: "box/f", expected: null, most: 1_000 };
    const swappedFolder = 'os.rename("box", "old"); os.symlink("away", "box")';
    const swappedFile = 'os.remove("box/f"); os.symlink("../away/f", "box/f")';

    test.each([
      [read, swappedFolder],
      [read, swappedFile],
      [write, swappedFolder],
      [write, swappedFile],
      [dump, swappedFile],
      [edit, swappedFolder],
      [edit, swappedFile],
    ])("a link that appears does not lead %j out of the workspace", async (request, swap) => {
      await workspace.prepare(
        "rm -rf box old away; mkdir box away; echo mine > box/f; echo mine, too > away/f",
      );
      const { end, text } = await raced(request, "realpath", swap);
      expect(text("stderr")).toMatch(/^box\/f: (Not a directory|Too many levels)/);
      expect([end.code, text("stdout")]).toEqual([2, ""]);
      expect((await workspace.sh("ls -A away; cat away/f")).text("stdout")).toBe("f\nmine, too\n");
    });

    test.each([
      ["is changed", 'open("box/f", "a").write("more")', "mine\nmore"],
      ["becomes a link", 'os.remove("box/f"); os.symlink("../away/f", "box/f")', "mine, too\n"],
    ])("a file that %s is not overwritten by an edit of its old content", async (_, what, left) => {
      await workspace.prepare(
        "rm -rf box away; mkdir box away; echo mine > box/f; echo mine, too > away/f",
      );
      const { end, text } = await raced(edit, "urandom", what);
      expect([end.code, text("stderr")]).toEqual([
        2,
        "box/f was changed during the edit; read it again\n",
      ]);
      expect(await contentOf("box/f")).toBe(left);
      expect((await workspace.sh("ls -A box")).text("stdout")).toBe("f\n");
    });

    test("a write replaces a file that becomes a link meanwhile, and does not follow the link", async () => {
      await workspace.prepare(
        "rm -rf box away; mkdir box away; echo mine > box/f; echo mine, too > away/f",
      );
      const { end } = await raced(write, "urandom", swappedFile);
      expect(end.code).toBe(0);
      const left = await workspace.sh("stat -c '%F' box/f; cat away/f; ls -A box");
      expect(left.text("stdout")).toBe("regular file\nmine, too\nf\n");
    });

    test("an edit without disk space leaves the file unchanged", async () => {
      await workspace.prepare(
        "rm -rf box; mkdir box; head -c 200000 /dev/zero | tr '\\0' m > box/f; echo mine >> box/f",
      );
      const request = JSON.stringify({ ...edit, most: 1_000_000 });
      const argv = ["python3", "-I", "-c", programs.workspace_files, request];
      const command = commandOf(...argv);
      const stdin = Buffer.from(JSON.stringify({ old_text: "mine", new_text: "changed" }));
      const limits = { ...command.limits, fileBytes: 100_000 };
      const { end, text } = await collect(
        workspace.commands,
        { ...command, stdin, limits },
        signal,
      );
      expect([end.code, text("stderr")]).toEqual([2, "box/f: File too large\n"]);
      expect((await workspace.sh("ls -A box; tail -c 5 box/f")).text("stdout")).toBe("f\nmine\n");
    });

    test.each([["box/f"], ["box/new"]])(
      "a write of %s without disk space leaves everything unchanged",
      async (path) => {
        await workspace.prepare("rm -rf box; mkdir box; echo mine > box/f; chmod 640 box/f");
        const argv = ["python3", "-I", "-c", programs.workspace_files];
        const command = commandOf(...argv, JSON.stringify({ operation: "write", path }));
        const limits = { ...command.limits, fileBytes: 100_000 };
        const stdin = Buffer.alloc(200_000, "m");
        const { end, text } = await collect(
          workspace.commands,
          { ...command, stdin, limits },
          signal,
        );
        expect([end.code, text("stderr")]).toEqual([2, `${path}: File too large\n`]);
        expect((await workspace.sh("ls -A box; cat box/f")).text("stdout")).toBe("f\nmine\n");
      },
    );

    test.each([["box/f"], ["box/new"]])(
      "a write of %s that is killed leaves everything unchanged",
      async (path) => {
        await workspace.prepare("rm -rf box; mkdir box; echo mine > box/f");
        const stop = new AbortController();
        const endless = (async function* () {
          for (let given = 0; ; given++) {
            yield Buffer.alloc(100_000, "m");
            // More than is buffered, so that a part of it is written.
            if (given === 40) stop.abort();
          }
        })();
        const outcome = await writeFile(workspace.sandbox, path, endless, stop.signal);
        expect(outcome).toMatchObject({ kind: "refused", end: { reason: "cancelled" } });
        expect((await workspace.sh("ls -A box; cat box/f")).text("stdout")).toBe("f\nmine\n");
      },
    );

    test("a file system without unnamed temporary files is written as well", async () => {
      await workspace.prepare("rm -rf box; mkdir box; echo old > box/f; chmod 640 box/f");
      const prelude = `
import errno, os
opened = os.open
def without(path, flags, *given, **named):
    if flags & os.O_TMPFILE == os.O_TMPFILE: raise OSError(errno.EOPNOTSUPP, "none")
    return opened(path, flags, *given, **named)
os.open = without
`;
      const argv = ["python3", "-I", "-c", prelude + programs.workspace_files];
      for (const [fileBytes, code, left] of [
        [100, 2, "old\n640 f\n"],
        [1_000_000, 0, `${"m".repeat(200)}640 f\n`],
      ] as const) {
        const command = commandOf(...argv, JSON.stringify(write));
        const limits = { ...command.limits, fileBytes };
        const stdin = Buffer.alloc(200, "m");
        const outcome = await collect(workspace.commands, { ...command, stdin, limits }, signal);
        expect(outcome.end.code).toBe(code);
        const shown = await workspace.sh("cd box; cat f; stat -c '%a %n' $(ls -A)");
        expect(shown.text("stdout")).toBe(left);
      }
    });

    test("a write keeps the permissions of a file, and the link by which it was named", async () => {
      await workspace.prepare(
        "rm -rf box; mkdir box; echo old > box/f; chmod 750 box/f; ln -s f box/link; echo x > box/r; chmod 440 box/r",
      );
      await workspace.call(writeFileTool, { path: "box/link", content: "new" });
      await workspace.call(writeFileTool, { path: "box/new", content: "made" });
      const refused = await workspace.call(writeFileTool, { path: "box/r", content: "y" });
      expect(refused.content).toBe("box/r: Permission denied");
      const left = await workspace.sh("cd box; readlink link; stat -c %a f new; cat f; ls -A");
      expect(left.text("stdout")).toBe("f\n750\n644\nnewf\nlink\nnew\nr\n");
    });
  });
});

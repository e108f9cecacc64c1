import { collect } from "@reeve/sandbox/files/collect";
import { writeFile } from "@reeve/sandbox/files/workspace-files";
import { programs } from "@reeve/sandbox/programs/programs";
import { commandOf } from "@reeve/sandbox/test/support/bubblewrap-here";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeFile as writeFileTool } from "../src/tools/builtin/write-file.ts";
import type { SandboxedWorkspace } from "./support/sandboxed-workspace.ts";
import { onEachGround, sandboxedWorkspace } from "./support/sandboxed-workspace.ts";

const signal = new AbortController().signal;

onEachGround("file tools", (ground) => {
  let workspace: SandboxedWorkspace;

  beforeAll(async () => {
    workspace = await sandboxedWorkspace(signal, ground);
  });

  afterAll(() => workspace[Symbol.asyncDispose]());

  async function contentOf(path: string): Promise<string> {
    return (await workspace.sh(`cat '${path}'`)).text("stdout");
  }

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

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { editFile } from "../src/tools/builtin/edit-file.ts";
import { writeFile as writeFileTool } from "../src/tools/builtin/write-file.ts";
import type { SandboxedWorkspace } from "./support/sandboxed-workspace.ts";
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
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { collect } from "@reeve/sandbox/files/collect";
import { listFiles } from "../src/tools/builtin/search-files.ts";
import type { SandboxedWorkspace } from "./support/sandboxed-workspace.ts";
import { commandOf } from "@reeve/sandbox/test/support/bubblewrap-here";
import { onEachGround, sandboxedWorkspace } from "./support/sandboxed-workspace.ts";
import { grepFiles, readFile } from "./support/default-tools.ts";

const signal = new AbortController().signal;
const paths = readFileSync(
  join(import.meta.dirname, "../../../packages/sandbox/src/programs/workspace_paths.py"),
  "utf8",
);
onEachGround("a command that changes paths all the time", (ground) => {
  let workspace: SandboxedWorkspace;

  beforeAll(async () => {
    workspace = await sandboxedWorkspace(signal, ground);
  });

  afterAll(() => workspace[Symbol.asyncDispose]());

  // Requirement: KIT-7, PERM-5
  test("never makes a tool open a file outside of the workspace", async () => {
    const code = `${paths}
import shutil, tempfile, threading
away = tempfile.mkdtemp(); os.makedirs("box")
open(away + "/f", "w").write("secret"); open("box/f", "w").write("mine")
sys.setswitchinterval(1e-6)
over = False
def swap():
    while not over:
        os.rename("box", "old"); os.symlink(away, "box")
        os.unlink("box"); os.rename("old", "box")
def replace():
    while not over:
        for target in (away + "/f", "inner"):
            try:
                os.symlink(target, "link"); os.unlink("link")
            except OSError: pass
threads = [threading.Thread(target=each) for each in (swap, replace)]
for thread in threads: thread.start()
seen = set()
for attempt in range(8_000):
    for path in ("box/f", "link"):
        try:
            fd = open_file(path, os.O_RDWR)
            seen.add(os.read(fd, 10)); os.close(fd)
        except (Complaint, OSError) as refusal:
            seen.add(type(refusal).__name__)
over = True
for thread in threads: thread.join()
print("secret" in str(seen), b"mine" in seen, open(away + "/f").read())
shutil.rmtree(away)
`;
    const command = commandOf("python3", "-I", "-c", code);
    const { text } = await collect(workspace.commands, command, signal);
    expect([text("stdout"), text("stderr")]).toEqual(["False True secret\n", ""]);
  });

  test("in another sandbox of the run misleads no tool", async () => {
    await workspace.prepare("mkdir -p shared/box; echo mine > shared/box/ld.so.cache");
    const swapping = `
import os
os.chdir("shared")
while not os.path.exists("../over"):
    os.rename("box", "old"); os.symlink("/etc", "box"); os.unlink("box"); os.rename("old", "box")`;
    const other = collect(workspace.commands, commandOf("python3", "-c", swapping), signal);
    const seen: string[] = [];
    for (let round = 0; round < 12; round++) {
      const read = await workspace.call(readFile, { path: "shared/box/ld.so.cache" });
      const listed = await workspace.call(listFiles, { path: "shared", recursive: true });
      const found = await workspace.call(grepFiles, { path: "shared", pattern: "." });
      seen.push(read.content, listed.content, found.content);
    }
    await workspace.prepare("touch over");
    await other;
    // Files in /etc of a sandbox, which no workspace has.
    expect(seen.join("\n")).not.toMatch(/ld\.so\.conf|glibc|alternatives|binary/);
    expect(seen.join("\n")).toContain("mine");
  });
});

import { existsSync } from "node:fs";
import { readFile, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  clearWorkspace,
  restoreWorkspace,
  snapshotWorkspace,
} from "../../../src/files/workspace-archive.ts";
import { readText, writeFile } from "../../../src/files/workspace-files.ts";
import { filesOnly } from "../../../src/port.ts";
import type { HostTest, SandboxBench } from "./sandbox-bench.ts";
import { signal } from "./sandbox-bench.ts";

/** Returns a line of Python that adds an entry to a forged archive. */
const file = (name: string) => `    add("${name}")\n`;
const link = (name: string, to: string, kind = "SYMTYPE") =>
  `    add("${name}", type=tarfile.${kind}, linkname="${to}")\n`;

/** Returns Python that writes (`w`) or reads (`r`) a file so deep that its path exceeds PATH_MAX. */
const walk = (end: string) => `
import os
here = os.open(".", os.O_RDONLY)
for _ in range(30):
    ${end === "w" ? 'os.mkdir("n" * 200, dir_fd=here)' : "pass"}
    here = os.open("n" * 200, os.O_RDONLY, dir_fd=here)
fd = os.open("deep", os.${end === "w" ? "O_WRONLY | os.O_CREAT" : "O_RDONLY"}, dir_fd=here)
${end === "w" ? 'os.write(fd, b"deep")' : "print(os.read(fd, 10).decode())"}`;

/** Tests file operations on a workspace. */
export function filesContract(bench: () => SandboxBench, hostTest: HostTest = test): void {
  const read = (path: string) =>
    readText(bench().box, { path, offset: 0, limit: undefined }, signal);

  describe("has files that", () => {
    test("are written with their parent folders and read as a whole or by lines", async () => {
      const { box } = bench();
      await writeFile(box, "a/b/c.txt", Buffer.from("one\ntwo\nthree"), signal);
      expect(await read("a/b/c.txt")).toMatchObject({ kind: "done", text: "one\ntwo\nthree" });
      expect(await read(`${bench().inside}/a/b/c.txt`)).toMatchObject({ kind: "done" });
      const some = { path: "a/b/c.txt", offset: 1, limit: 1 };
      expect(await readText(box, some, signal)).toMatchObject({ kind: "done", text: "two\n" });
    });

    test.each([
      ["/etc/ld.so.cache", "outside"],
      ["../../usr/bin/env", "outside"],
      ["out", "outside"],
      ["folder", "is a folder"],
      ["pipe", "not a regular file"],
      ["nothing", "does not exist"],
      ["binary", "not a text file"],
      ["", "empty"],
    ])("cannot be read at the path %j", async (path, reason) => {
      const prepare =
        "ln -sfn /usr/bin/env out; mkdir -p folder; mkfifo pipe; printf '\\0' > binary";
      await bench().run(["/bin/sh", "-c", prepare]);
      expect(await read(path)).toMatchObject({
        kind: "refused",
        reason: expect.stringContaining(reason) as string,
      });
    });

    test("cannot be written through links that lead out of the workspace", async () => {
      const { run, box } = bench();
      await run(["/bin/sh", "-c", "ln -sfn /tmp away; ln -sfn /tmp/x gone"]);
      for (const path of ["away/x", "gone"]) {
        const outcome = await writeFile(box, path, Buffer.from("x"), signal);
        expect(outcome).toMatchObject({ kind: "refused" });
      }
    });

    hostTest("cannot be read if they are too large, unless by lines", async () => {
      const { box, workspace } = bench();
      await writeFile(box, "large.csv", Buffer.from("0123456789\n".repeat(200_000)), signal);
      expect(await read("large.csv")).toMatchObject({ kind: "refused" });
      const some = { path: "large.csv", offset: 199_999, limit: 5 };
      expect(await readText(box, some, signal)).toMatchObject({ text: "0123456789\n" });
      expect(existsSync(join(workspace, "large.csv"))).toBe(true);
    });

    hostTest("survive a snapshot and its restore", async () => {
      const { box, run, workspace } = bench();
      const prepare =
        "rm -rf *; mkdir d; echo kept > d/f; chmod 700 d/f; ln -s d/f link; ln -s /etc/x away; mkfifo pipe";
      await run(["/bin/sh", "-c", prepare]);
      const archive = await Array.fromAsync(
        snapshotWorkspace(box, { bytes: 1_000_000, files: 100 }, signal),
      );
      for (const name of await readdir(workspace))
        await rm(join(workspace, name), { recursive: true });
      await restoreWorkspace(box, Buffer.concat(archive), signal);
      const shown = await run(["/bin/sh", "-c", "cat link; readlink away; stat -c %a d/f; ls"]);
      // Without isolation, links that lead out are left out, because only attacks would use them.
      const [away, list] = box.isolation === filesOnly ? ["", ""] : ["/etc/x\n", "away\n"];
      expect(shown.text("stdout")).toBe(`kept\n${away}700\n${list}d\nlink\n`);
    });

    test.each([
      ["an earlier link", link("out", "/tmp") + file("out/planted")],
      ["an earlier link to a folder above", link("out", "..") + file("out/planted")],
      ["a link that is named twice", link("out", "/tmp") + link("out/planted", "d/f")],
      ["a name with dots", file("d/../../planted")],
      ["an absolute name", file("/tmp/planted")],
      ["a hard link to elsewhere", link("stolen", "../run_b/secret.txt", "LNKTYPE")],
      [
        "a hard link by an earlier link",
        link("out", "..") + link("stolen", "out/run_b/secret.txt", "LNKTYPE"),
      ],
    ])("cannot be restored outside of the workspace through %s", async (_, entries) => {
      const { box, run, folder } = bench();
      const before = await readdir(folder);
      const forge = `
import io, sys, tarfile
with tarfile.open(fileobj=sys.stdout.buffer, mode="w|") as archive:
    def add(name, **more):
        entry = tarfile.TarInfo(name); entry.size = 0 if more else 1
        for key, value in more.items(): setattr(entry, key, value)
        archive.addfile(entry, None if more else io.BytesIO(b"x"))
${entries}`;
      const archive = (await run(["python3", "-I", "-c", forge])).text("stdout");
      await run(["/bin/sh", "-c", "rm -rf out"]);
      const refusal = await restoreWorkspace(box, Buffer.from(archive), signal).catch(String);
      // Without isolation, the link is left out, so the restore succeeds inside the workspace.
      const succeeds = box.isolation === filesOnly ? [undefined] : [];
      const why = /outside the workspace|Not a directory|Too many levels|does not exist/;
      expect([...succeeds, expect.stringMatching(why)]).toContainEqual(refusal);
      const left = await run(["/bin/sh", "-c", "ls -d /tmp/planted stolen; rm -rf out"]);
      expect(left.text("stdout")).toBe("");
      expect(await readdir(folder)).toEqual(before);
    });

    test("cannot be snapshotted beyond the size limit", async () => {
      const { box, run } = bench();
      await run([
        "/bin/sh",
        "-c",
        "head -c 2500000 /dev/zero > half; head -c 2500000 /dev/zero > large",
      ]);
      let bytes = 0;
      const take = async () => {
        const archive = snapshotWorkspace(box, { bytes: 3_000_000, files: 100 }, signal);
        for await (const { length } of archive) bytes += length;
      };
      await expect(take()).rejects.toMatchObject({ kind: "exhausted" });
      expect(bytes).toBe(0);
      await run(["rm", "half", "large"]);
    });

    test("survive a snapshot and its restore with paths of any length", async () => {
      const { box, run } = bench();
      await run(["python3", "-I", "-c", walk("w")]);
      const archive = await Array.fromAsync(
        snapshotWorkspace(box, { bytes: 1_000_000, files: 100 }, signal),
      );
      await clearWorkspace(box, signal);
      await restoreWorkspace(box, Buffer.concat(archive), signal);
      expect((await run(["python3", "-I", "-c", walk("r")])).text("stdout")).toBe("deep\n");
      await clearWorkspace(box, signal);
      await run(["/bin/sh", "-c", "mkdir d; echo kept > d/f"]);
    });

    test("are restored without hard links to missing files", async () => {
      const { box, run } = bench();
      const forge = `
import io, sys, tarfile
with tarfile.open(fileobj=sys.stdout.buffer, mode="w|") as archive:
    link = tarfile.TarInfo("other"); link.type = tarfile.LNKTYPE; link.linkname = "missing"; archive.addfile(link)
    file = tarfile.TarInfo("file"); file.size = 1; archive.addfile(file, io.BytesIO(b"x"))`;
      const { text } = await run(["python3", "-I", "-c", forge]);
      await restoreWorkspace(box, Buffer.from(text("stdout")), signal);
      const shown = await run(["/bin/sh", "-c", "cat file; ls other; rm file"]);
      expect(shown.text("stdout")).toBe("x");
    });

    hostTest("cannot be restored outside of the workspace by their names", async () => {
      const { box, run, workspace } = bench();
      const forge = `
import io, sys, tarfile
with tarfile.open(fileobj=sys.stdout.buffer, mode="w|") as archive:
    entry = tarfile.TarInfo("../tmp/x"); entry.size = 1; archive.addfile(entry, io.BytesIO(b"x"))`;
      const { text } = await run(["python3", "-I", "-c", forge]);
      await expect(restoreWorkspace(box, Buffer.from(text("stdout")), signal)).rejects.toThrow(
        "outside the workspace",
      );
      expect(await readFile(join(workspace, "d/f"), "utf8")).toBe("kept\n");
    });
  });
}

import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { collect } from "@reeve/sandbox/files/collect";
import { restoreWorkspace } from "@reeve/sandbox/files/workspace-archive";
import type { Category, Verdict } from "../support/attack.ts";
import { harmed, stopped } from "../support/attack.ts";
import type { AttackBench } from "../support/attack.ts";
import { limitsOf } from "../support/attack-bench.ts";

export const archives: Category = {
  title: "Snapshots",
  attacks: [
    {
      id: "archives-that-lead-out",
      attempt:
        "restores snapshots with absolute names, .., links that are written through, links to files of others",
      promise: "nothing is written or read outside of the workspace",
      control: { where: "within", why: "a plain entry of the same archive is restored" },
      run: leadOut,
    },
    {
      id: "archives-with-rights",
      attempt: "restores snapshots with devices, pipes, setuid files and owners",
      promise: "only files, folders and links are restored, without privileges",
      control: { where: "within", why: "a plain entry of the same archive is restored" },
      run: withRights,
    },
    {
      id: "archive-bombs",
      attempt:
        "restores archives that claim terabytes, are compressed, or have headers of a gigabyte",
      promise: "refused or ended, within the limits of a call",
      control: { where: "within", why: "a plain archive is restored" },
      run: bombs,
    },
  ],
};

/** Creates an archive with Python in a sandbox. */
async function archived({ box, signal }: AttackBench, code: string): Promise<Buffer> {
  const script = `
import io, os, sys, tarfile, gzip, struct
def entry(name, **more):
    info = tarfile.TarInfo(name)
    for key, value in more.items(): setattr(info, key, value)
    return info
def plain(archive, name="plain", content=b"plain"):
    archive.addfile(entry(name, size=len(content)), io.BytesIO(content))
out = sys.stdout.buffer
${code}
out.flush()`;
  const chunks: Uint8Array[] = [];
  const command = { argv: ["python3", "-I", "-c", script], limits: limitsOf() };
  for await (const event of box.exec(command, signal)) {
    if (event.kind === "out" && event.stream === "stdout") chunks.push(event.bytes);
    if (event.kind === "out" && event.stream === "stderr")
      throw new Error(Buffer.from(event.bytes).toString());
  }
  return Buffer.concat(chunks);
}

/** Restores an archive. Returns the error message if that is refused. */
async function restore(bench: AttackBench, archive: Buffer): Promise<string | undefined> {
  try {
    await restoreWorkspace(bench.box, archive, bench.signal);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function clear({ box, signal }: AttackBench): Promise<void> {
  const argv = ["/bin/sh", "-c", "chmod -R u+rwx .; rm -rf ./* ./.[!.]*"];
  await collect(box, { argv, limits: limitsOf() }, signal);
}

async function leadOut(bench: AttackBench): Promise<Verdict> {
  const bad = [
    `plain(archive, "../harm")`,
    `plain(archive, "/tmp/harm")`,
    `plain(archive, "a/../../tmp/harm")`,
    `archive.addfile(entry("link", type=tarfile.SYMTYPE, linkname="/tmp")); plain(archive, "link/harm")`,
    `archive.addfile(entry("up", type=tarfile.SYMTYPE, linkname="../tmp")); plain(archive, "up/harm")`,
    `archive.addfile(entry("hard", type=tarfile.LNKTYPE, linkname="/etc/ld.so.cache"))`,
    `archive.addfile(entry("hard", type=tarfile.LNKTYPE, linkname="../run_b/secret.txt"))`,
  ];
  for (const each of bad) {
    await clear(bench);
    const code = `with tarfile.open(fileobj=out, mode="w|") as archive:\n    plain(archive)\n    ${each}`;
    await restore(bench, await archived(bench, code));
    const names = await readdir(bench.workspace);
    if (!names.includes("plain")) throw new Error(`nothing of ${each} was restored`);
    const above = await readdir(join(bench.workspace, ".."));
    if (above.includes("harm")) return harmed(each);
    for (const name of names) {
      const found = await lstat(join(bench.workspace, name));
      if (found.isFile() && found.nlink > 1) return harmed(`${each}: a link to a file of others`);
    }
    // A file in /tmp that was written through a link must not survive until the next call either.
    const argv = ["sh", "-c", "ls /tmp"];
    const { text } = await collect(bench.box, { argv, limits: limitsOf() }, bench.signal);
    if (text("stdout").includes("harm")) return harmed(`${each}: in /tmp of the next call`);
  }
  await clear(bench);
  return stopped;
}

async function withRights(bench: AttackBench): Promise<Verdict> {
  const code = `
with tarfile.open(fileobj=out, mode="w|", format=tarfile.PAX_FORMAT) as archive:
    plain(archive)
    archive.addfile(entry("setuid", mode=0o6755, uid=0, gid=0, uname="root"))
    for name, kind in [("block", tarfile.BLKTYPE), ("char", tarfile.CHRTYPE), ("fifo", tarfile.FIFOTYPE)]:
        archive.addfile(entry(name, type=kind, devmajor=8, devminor=0, mode=0o666))
    archive.addfile(entry("caps", pax_headers={"SCHILY.xattr.security.capability": "x"}))`;
  await clear(bench);
  const refusal = await restore(bench, await archived(bench, code));
  const names = await readdir(bench.workspace);
  if (!names.includes("plain")) throw new Error(`nothing was restored: ${refusal}`);
  for (const name of names) {
    const found = await lstat(join(bench.workspace, name));
    if (!found.isFile() && !found.isDirectory()) return harmed(`${name} is a special file`);
    if ((found.mode & 0o6000) !== 0) return harmed(`${name} keeps its setuid or setgid bit`);
    if (found.uid === 0) return harmed(`${name} belongs to root`);
  }
  await clear(bench);
  return stopped;
}

async function bombs(bench: AttackBench): Promise<Verdict> {
  const bad = [
    // Lengths that exceed the content, and a negative length.
    `info = entry("huge", size=2 ** 40); out.write(info.tobuf(tarfile.GNU_FORMAT)); out.write(bytes(2 ** 20))`,
    `info = entry("negative", size=0); b = bytearray(info.tobuf(tarfile.GNU_FORMAT)); b[124:136] = b"\\xff" * 12; out.write(b)`,
    `info = entry("././@PaxHeader", type=tarfile.XHDTYPE, size=2 ** 33); out.write(info.tobuf(tarfile.GNU_FORMAT)); out.write(bytes(2 ** 20))`,
    `out.write(gzip.compress(bytes(200 * 2 ** 20)))`,
    `
with tarfile.open(fileobj=out, mode="w|") as archive:
    for _ in range(3): plain(archive, "/".join(["d"] * 120) + "/f")
    archive.addfile(entry("n" * 5_000))`,
    `out.write(os.urandom(2 ** 20))`,
  ];
  for (const each of bad) {
    await clear(bench);
    const archive = await archived(bench, each);
    const began = performance.now();
    await restore(bench, archive);
    const took = performance.now() - began;
    if (took > 30_000) return harmed(`${each} took ${took} ms`);
    const { text } = await bench.python(
      "import os; print(sum(os.stat(os.path.join(d, f)).st_blocks for d, _, fs in os.walk('.') for f in fs))",
    );
    if (Number(text("stdout")) * 512 > 64 * 2 ** 20)
      return harmed(`${each} left ${text("stdout")}`);
  }
  await clear(bench);
  const fine = `with tarfile.open(fileobj=out, mode="w|") as archive: plain(archive)`;
  const refusal = await restore(bench, await archived(bench, fine));
  if (refusal !== undefined) throw new Error(`a plain archive is refused: ${refusal}`);
  await clear(bench);
  return stopped;
}

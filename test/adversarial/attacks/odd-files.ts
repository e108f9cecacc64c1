import type { SearchRequest } from "@reeve/sandbox/files/workspace-search";
import { searchWorkspace } from "@reeve/sandbox/files/workspace-search";
import type { Category, Verdict } from "../support/attack.ts";
import { bounded, harmed, stopped } from "../support/attack.ts";
import type { AttackBench } from "../support/attack.ts";
import { maxArtifactBytes } from "../support/attacked-toolhost.ts";

export const oddFiles: Category = {
  title: "Odd files",
  attacks: [
    {
      id: "special-files",
      attempt: "makes file tools read named pipes, sockets, devices and huge sparse files",
      promise: "refused at once, without waiting",
      control: { where: "within", why: "the files exist with their types" },
      run: specialFiles,
    },
    {
      id: "odd-names",
      attempt:
        "creates file names with newlines, control characters, lone surrogates, 255 bytes, -rf, and nests 3,000 folders",
      promise: "each is one unambiguous line of a listing, and tools continue to work",
      control: { where: "within", why: "the listing contains all of them" },
      run: oddNames,
    },
    {
      id: "artifacts",
      attempt:
        "publishes links, devices, pipes, folders, files that are too large, and files that grow meanwhile",
      promise: "only regular files of the workspace are published, up to the size limit",
      control: { where: "within", why: "a regular file is published" },
      run: artifacts,
    },
    {
      id: "pattern-bombs",
      attempt: "searches by regular expressions and patterns that take exponential time",
      promise: "the search ends at its time limit; the toolhost continues to serve others",
      control: { where: "within", why: "it reaches its time limit" },
      run: patternBombs,
    },
  ],
};

async function specialFiles(bench: AttackBench): Promise<Verdict> {
  const host = await bench.toolhost();
  const runId = "run_special";
  await host.prepare(
    runId,
    `
import os, socket
os.mkfifo("fifo"); socket.socket(socket.AF_UNIX).bind("socket"); os.symlink("/dev/zero", "zero"); os.symlink("/dev/stdin", "stdin")
open("sparse", "wb").truncate(500 * 2 ** 20); os.mkdir("folder")
assert os.path.getsize("sparse") == 500 * 2 ** 20`,
  );
  const began = performance.now();
  for (const path of ["fifo", "socket", "zero", "stdin", "sparse", "folder"]) {
    for (const name of ["read_file", "publish_report", "edit_file"]) {
      const more = name === "edit_file" ? { old_text: "a", new_text: "b" } : {};
      const { isError, content } = await host.call(name, { path, ...more }, { runId });
      if (!isError) return harmed(`${name} ${path}: ${content.slice(0, 100)}`);
    }
  }
  const found = await host.call("grep", { pattern: "x" }, { runId });
  if (found.isError) return harmed(found.content);
  const took = performance.now() - began;
  return took < 60_000 ? stopped : harmed(`it took ${took} ms`);
}

async function oddNames(bench: AttackBench): Promise<Verdict> {
  const host = await bench.toolhost();
  const runId = "run_names";
  await host.prepare(
    runId,
    `
import os
os.mkdir("odd")
for name in [b"two\\nsecret.txt (9 bytes)", b"\\x1b[2J\\x07", b"half\\xc3", b"n" * 255, b"-rf", b"--help", b" ", b"\\xe2\\x80\\xae.txt", b"a|b;c&d$(e)", b"[cut: x]"]:
    open(b"odd/" + name, "wb").write(b"needle\\n")
os.mkdir("nested"); os.chdir("nested")
for _ in range(3000): os.mkdir("d"); os.chdir("d")
open("bottom", "w").write("needle\\n")`,
  );
  const listed = await host.call("list_files", { path: "odd" }, { runId });
  const lines = listed.content.trim().split("\n");
  if (listed.isError || lines.length !== 10)
    return harmed(`${lines.length} lines: ${listed.content}`);
  // oxlint-disable-next-line no-control-regex -- the characters that must not be forwarded
  if (/[\x00-\x08\x0b-\x1f\x7f\u202e]/.test(listed.content))
    return harmed("control characters are forwarded");
  const found = await host.call("grep", { path: "odd", pattern: "needle" }, { runId });
  if (found.isError || found.content.trim().split("\n").length !== 10) return harmed(found.content);
  for (const args of [
    { path: "odd/-rf" },
    { path: "odd/--help" },
    { path: `odd/${"n".repeat(255)}` },
  ]) {
    const { isError, content } = await host.call("read_file", args, { runId });
    if (isError) return harmed(`${args.path}: ${content}`);
  }
  for (const [name, args] of [
    ["list_files", { recursive: true }],
    ["glob", { pattern: "**/bottom" }],
    ["grep", { pattern: "needle" }],
  ] as const) {
    const { isError, content } = await host.call(name, args, { runId });
    if (isError || !content.includes("nested too deeply"))
      return harmed(`${name}: ${content.slice(0, 200)}`);
  }
  return stopped;
}

async function artifacts(bench: AttackBench): Promise<Verdict> {
  const host = await bench.toolhost();
  const runId = "run_artifacts";
  await host.prepare(
    runId,
    `
import os
os.mkfifo("fifo"); os.symlink("/etc/ld.so.cache", "out"); os.symlink("/dev/zero", "zero"); os.mkdir("folder"); os.symlink("large", "inner")
open("large", "wb").truncate(${maxArtifactBytes + 1}); open("fine", "w").write("fine")`,
  );
  for (const path of ["fifo", "out", "zero", "folder", "large", "inner", "nothing", ""]) {
    const { isError, content } = await host.call("publish_report", { path }, { runId });
    if (!isError) return harmed(`${path}: ${content}`);
  }
  const grow = "import os\nwhile True: open('growing', 'ab').write(bytes(65_536))";
  const command = ["timeout", "3", "python3", "-I", "-c", grow];
  const growing = host.call("run_command", { command }, { runId });
  const published = await host.call("publish_report", { path: "growing" }, { runId });
  await growing;
  const size = Number(published.structured?.["size_bytes"] ?? 0);
  if (!published.isError && size > maxArtifactBytes) return harmed(`${size} bytes`);
  const fine = await host.call("publish_report", { path: "fine" }, { runId });
  if (fine.isError) throw new Error(`nothing can be published: ${fine.content}`);
  return stopped;
}

async function patternBombs(bench: AttackBench): Promise<Verdict> {
  await bench.python(`open("line", "w").write("a" * 40 + "b\\n"); open("a" * 200, "w")`);
  const path = ".";
  const search = (request: SearchRequest, timeoutMs: number) =>
    searchWorkspace(bench.box, request, timeoutMs, bench.signal);
  const rest = { path, glob: null, ignore_case: false, most: 10 } as const;
  const bomb = search({ operation: "grep", pattern: "^(a+)+$", ...rest }, 1_500);
  const patterns = ["{a,b}".repeat(30), `${"*a".repeat(100)}b`, "**/".repeat(100), "{".repeat(500)];
  const found = await Promise.all(
    patterns.map((pattern) => search({ operation: "glob", pattern, path, most: 10 }, 20_000)),
  );
  const slow = found.findIndex(({ end }) => end.reason !== "exit");
  if (slow >= 0) return harmed(`${patterns[slow]} takes too long`);
  const { end } = await bomb;
  if (end.reason === "exit") throw new Error("the expression is not a bomb");
  return end.reason === "timeout" ? bounded : harmed(end.reason);
}

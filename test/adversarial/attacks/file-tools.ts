import type { JsonObject } from "@bufbuild/protobuf";
import type { Category, Verdict } from "../support/attack.ts";
import { harmed, stopped } from "../support/attack.ts";
import type { AttackBench } from "../support/attack.ts";

const otherSecret = "the secret of run_other";

export const fileTools: Category = {
  title: "File tools of a running toolhost",
  attacks: [
    {
      id: "tool-paths",
      attempt:
        "gives file tools paths that lead out: absolute, with .., through links to files and folders, through links in the middle",
      promise:
        "refused at the time of use, for reading, writing, editing, searching and publishing",
      control: {
        where: "within",
        why: "a program in the same workspace follows each of the links",
      },
      run: toolPaths,
    },
    {
      id: "tool-globs",
      attempt: "gives file tools absolute and escaping patterns, hidden in braces",
      promise: "refused, each alternative separately",
      control: { where: "within", why: "the same patterns inside the workspace find files" },
      run: toolGlobs,
    },
    {
      id: "racing-renames",
      attempt: "keeps swapping a folder for a link while file tools read there",
      promise: "no tool ever reads, lists or searches outside",
      control: {
        where: "within",
        why: "a reader that resolves the path before opening it escapes in the same race",
      },
      run: racingRenames,
    },
    {
      id: "read-only",
      attempt: "writes to a workspace that its agent may only read, by tools and by code",
      promise: "refused",
      control: { where: "within", why: "the same calls can write to a writable workspace" },
      run: readOnly,
    },
  ],
};

async function toolPaths(bench: AttackBench): Promise<Verdict> {
  const host = await bench.toolhost();
  const runId = "run_paths";
  await host.prepare("run_other", `open("secret.txt", "w").write("${otherSecret}")`);
  await host.prepare(
    runId,
    `
import os
os.makedirs("deep/er"); os.makedirs("/tmp/away"); open("/tmp/away/f", "w").write("away")
for name, to in [("absolute", "/etc/ld.so.cache"), ("relative", "../../../../etc/ld.so.cache"), ("folder", "/etc"), ("deep/er/up", "../../.."), ("other", "../run_other/secret.txt"), ("proc", "/proc/self/environ"), ("root", "/proc/1/root"), ("loop", "loop"), ("dangling", "/tmp/away/new")]:
    os.symlink(to, name)
open("absolute", "rb").read(1); os.listdir("deep/er/up"); open("proc", "rb").read(1)`,
  );
  const reading = [
    "/etc/ld.so.cache ../run_other/secret.txt ../../../../etc/ld.so.cache absolute relative other proc loop",
    "folder/ld.so.cache deep/er/up/etc/ld.so.cache root/etc/ld.so.cache deep/../../run_other/secret.txt ./../../x",
    "/workspace/../etc/ld.so.cache //etc/ld.so.cache /proc/self/environ",
  ].flatMap((paths) => paths.split(" "));
  const writing = [
    "/tmp/x",
    "../x",
    "folder/x",
    "dangling",
    "deep/er/up/x",
    "absolute",
    "/workspace/../x",
  ];
  const searched = ["/etc", "..", "folder", "deep/er/up", "root/etc", "/"];
  const calls = [
    ...reading.flatMap((path) => [
      ["read_file", { path }] as const,
      ["publish_report", { path }] as const,
      ["edit_file", { path, old_text: "a", new_text: "b" }] as const,
    ]),
    ...writing.map((path) => ["write_file", { path, content: "harm" }] as const),
    ...searched.flatMap((path) => [
      ["list_files", { path, recursive: true }] as const,
      ["grep", { path, pattern: "." }] as const,
      ["glob", { path, pattern: "*" }] as const,
    ]),
  ];
  const results = await Promise.all(
    calls.map(async ([name, args]) => ({
      request: `${name} ${args.path}`,
      ...(await host.call(name, args, { runId })),
    })),
  );
  const accepted = results.filter(({ isError }) => !isError).map(({ request }) => request);
  return accepted.length === 0 ? stopped : harmed(accepted.join(", "));
}

async function toolGlobs(bench: AttackBench): Promise<Verdict> {
  const host = await bench.toolhost();
  const runId = "run_globs";
  await host.prepare(runId, `import os; os.mkdir("etc"); open("etc/mine", "w")`);
  const outside = [
    "/etc/*",
    "../*",
    "{/etc,etc}/*",
    "{..,etc}/*",
    "etc/{../..,x}/*",
    "{a,{b,/etc}}/*",
    "**/../../*",
    "{x,/}etc/*",
  ];
  for (const pattern of outside) {
    const { isError, content } = await host.call("glob", { pattern }, { runId });
    if (!isError || content.includes("ld.so")) return harmed(`${pattern}: ${content}`);
  }
  const { content } = await host.call("glob", { pattern: "{x,etc}/*" }, { runId });
  if (!content.includes("etc/mine")) throw new Error(`braces find nothing: ${content}`);
  return stopped;
}

async function racingRenames(bench: AttackBench): Promise<Verdict> {
  const host = await bench.toolhost();
  const runId = "run_races";
  await host.prepare(
    runId,
    `import os; os.makedirs("shared/box"); open("shared/box/ld.so.cache", "w").write("mine")`,
  );
  const naive = `
import os, signal, time
started, led_out = time.monotonic(), False
swapper = os.fork()
if swapper == 0:
    os.chdir("shared")
    while True:
        os.rename("box", "old"); os.symlink("/etc", "box"); os.unlink("box"); os.rename("old", "box")
# Long enough for the tools to be in it too.
while time.monotonic() - started < (2 if led_out else 15):
    try:
        full = os.path.realpath("shared/box/ld.so.cache")
        if not full.startswith("/workspace/"): continue
        with open(full, "rb") as file: led_out = led_out or file.read(4) != b"mine"
    except OSError: pass
print("led out" if led_out else "never led out", flush=True)
os.kill(swapper, signal.SIGKILL); os.wait()`;
  const command = ["python3", "-I", "-c", naive];
  const race = host.call("run_command", { command }, { runId });
  const seen: string[] = [];
  const over = new AbortController();
  void race.finally(() => over.abort());
  while (!over.signal.aborted) {
    const results = await Promise.all([
      host.call("read_file", { path: "shared/box/ld.so.cache" }, { runId }),
      host.call("list_files", { path: "shared", recursive: true }, { runId }),
      host.call("grep", { path: "shared", pattern: "." }, { runId }),
    ]);
    seen.push(...results.map(({ content }) => content));
  }
  const { content } = await race;
  if (content.includes("never led out"))
    throw new Error("even the naive reader never escaped in the race");
  if (!content.includes("led out")) throw new Error(`the race did not run: ${content}`);
  if (!seen.join("").includes("mine"))
    throw new Error("no tool ever read the file of the workspace");
  const outside = seen.find((text) => /ld\.so\.conf|glibc|alternatives|binary/.test(text));
  return outside === undefined ? stopped : harmed(outside);
}

async function readOnly(bench: AttackBench): Promise<Verdict> {
  const host = await bench.toolhost();
  const runId = "run_read_only";
  await host.prepare(runId, `open("kept", "w").write("kept")`);
  const settings = { readOnly: true };
  const write = ["python3", "-I", "-c", "open('/workspace/harm', 'w'); print('written')"];
  const code = "import pathlib\npathlib.Path('/workspace/harm').write_text('x')";
  const calls: readonly (readonly [string, JsonObject])[] = [
    ["run_command", { command: write }],
    ["run_command", { command: ["touch", "kept"] }],
    ["execute_code", { code }],
    ["write_file", { path: "harm", content: "x" }],
    ["edit_file", { path: "kept", old_text: "kept", new_text: "harm" }],
  ];
  for (const [name, args] of calls) {
    const { isError, content } = await host.call(name, args, { runId, settings });
    if (!isError) return harmed(`${name}: ${content}`);
  }
  const control = await host.call("run_command", { command: write }, { runId });
  if (control.isError) throw new Error(`the control cannot write: ${control.content}`);
  return stopped;
}

import { existsSync } from "node:fs";
import { join } from "node:path";
import { collect } from "@reeve/sandbox/files/collect";
import { snapshotWorkspace } from "@reeve/sandbox/files/workspace-archive";
import { readText } from "@reeve/sandbox/files/workspace-files";
import { searchWorkspace } from "@reeve/sandbox/files/workspace-search";
import type { Category, Verdict } from "../support/attack.ts";
import { harmed, stopped } from "../support/attack.ts";
import type { AttackBench } from "../support/attack.ts";
import { limitsOf } from "../support/attack-bench.ts";

export const modules: Category = {
  title: "Programs of the toolhost",
  attacks: [
    {
      id: "hijacked-modules",
      attempt:
        "places modules, startup files and settings where interpreters look for them: json.py, sitecustomize.py, .pth, pyvenv.cfg",
      promise: "no program of the toolhost loads any of them",
      control: { where: "within", why: "an interpreter without isolated mode loads them" },
      run: hijackedModules,
    },
    {
      id: "preloading",
      attempt:
        "injects a library into every program with LD_PRELOAD, and modules with PYTHON variables",
      promise:
        "variables end with the call; no program of the toolhost or of the next call gets them",
      control: { where: "within", why: "a child of the call has the library loaded" },
      run: preloading,
    },
    {
      id: "poisoned-interpreter",
      attempt: "changes modules and built-in functions of the interpreter that runs its code",
      promise: "the next call starts with an untouched interpreter",
      control: { where: "within", why: "the same code sees its changes" },
      run: poisonedInterpreter,
    },
  ],
};

const names = [
  "json _json os sys stat ast re time io linecache traceback encodings fnmatch tarfile",
  "sitecustomize usercustomize codecs abc site",
].join(" ");

async function hijackedModules(bench: AttackBench): Promise<Verdict> {
  const mark = join(bench.workspace, "hijacked");
  const prepare = `
import os, sys
harm = "open('/workspace/hijacked', 'a').write(__name__)\\n"
for name in "${names}".split():
    open(f"/workspace/{name}.py", "w").write(harm)
packages = f"/workspace/.local/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
os.makedirs(packages)
open(packages + "/start.pth", "w").write("import os; open('/workspace/hijacked', 'a').write('pth')\\n")
open(packages + "/usercustomize.py", "w").write(harm)
open("/workspace/pyvenv.cfg", "w").write("home = /workspace\\n")
open("/workspace/.pythonrc.py", "w").write(harm)`;
  const { end, text } = await bench.python(prepare);
  if (end.code !== 0) throw new Error(`cannot create the files: ${text("stderr")}`);
  const argv = ["/bin/sh", "-c", "python3 -c 'import fnmatch'; cat hijacked; rm -f hijacked"];
  const control = await collect(bench.box, { argv, limits: limitsOf() }, bench.signal);
  if (!control.text("stdout").includes("fnmatch"))
    throw new Error("no interpreter loads the files");
  await runOwnPrograms(bench);
  const isLoaded = existsSync(mark);
  const clear = { argv: ["/bin/sh", "-c", "rm -rf ./*.py .local pyvenv.cfg"], limits: limitsOf() };
  await collect(bench.box, clear, bench.signal);
  return isLoaded ? harmed("a file of the workspace was loaded") : stopped;
}

/** Runs each of our own programs once. */
async function runOwnPrograms({ box, signal }: AttackBench): Promise<void> {
  const code = "import json, re, os.path\njson.dumps(1)";
  const stdin = Buffer.from(JSON.stringify({ code, allowed_imports: ["json", "re", "os.path"] }));
  const ran = await collect(
    box,
    { program: "execute_code", argv: [], stdin, limits: limitsOf() },
    signal,
  );
  if (!ran.text("result").includes("1")) throw new Error(`no code runs: ${ran.text("stderr")}`);
  await readText(box, { path: "pyvenv.cfg", offset: 0, limit: undefined }, signal);
  const search = { path: ".", pattern: "x", glob: null, ignore_case: false, most: 10 } as const;
  await searchWorkspace(box, { operation: "grep", ...search }, 20_000, signal);
  for await (const _ of snapshotWorkspace(box, { bytes: 10_000_000, files: 1_000 }, signal));
}

async function preloading(bench: AttackBench): Promise<Verdict> {
  const look = "print('preloaded' in open('/proc/self/maps').read(), 'PYTHONPATH' in os.environ)";
  const code = `
import ctypes.util, glob, os, shutil, subprocess, sys
library = next(path for path in glob.glob("/lib/*/libm.so.6") + glob.glob("/usr/lib/*/libm.so.6") + glob.glob("/lib*/libm.so.6"))
shutil.copy(library, "/workspace/preloaded.so")
for name, value in [("LD_PRELOAD", "/workspace/preloaded.so"), ("PYTHONPATH", "/workspace"), ("PYTHONSTARTUP", "/workspace/x.py"), ("PYTHONHOME", "/workspace")]:
    os.environ[name] = value
env = {"LD_PRELOAD": os.environ["LD_PRELOAD"], "PYTHONPATH": "/workspace"}
subprocess.run([sys.executable, "-c", "import os; ${look}"], env=env)`;
  const own = await bench.python(code);
  if (own.text("stdout") !== "True True\n")
    throw new Error(`nothing is loaded: ${own.text("stderr")}`);
  const next = await bench.python(`import os\n${look}`);
  const ours = await collect(
    bench.box,
    {
      program: "execute_code",
      argv: [],
      stdin: Buffer.from(JSON.stringify({ code: `import os\n${look}`, allowed_imports: ["os"] })),
      limits: limitsOf(),
    },
    bench.signal,
  );
  const seen = next.text("stdout") + ours.text("stdout");
  return seen === "False False\nFalse False\n" ? stopped : harmed(seen);
}

async function poisonedInterpreter({ box, signal }: AttackBench): Promise<Verdict> {
  const allowed_imports = ["builtins", "json", "sys"];
  const run = async (code: string) => {
    const stdin = Buffer.from(JSON.stringify({ code, allowed_imports }));
    const command = { program: "execute_code", argv: [], stdin, limits: limitsOf() } as const;
    return (await collect(box, command, signal)).text("result");
  };
  const look = "str(json.dumps(len('four')))";
  const poison = `
import builtins, json, sys
builtins.len = json.dumps = lambda *_: "poisoned"
sys.modules["_json"] = sys.path_hooks = None
${look}`;
  if (!(await run(poison)).includes("poisoned")) throw new Error("nothing was poisoned");
  const next = await run(`import json\n${look}`);
  return next.includes('"4"') ? stopped : harmed(next);
}

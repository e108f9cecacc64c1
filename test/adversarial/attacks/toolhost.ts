import { globSync, readFileSync, readdirSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HostWorkspaceStorage } from "@reeve/sandbox/storage/host-workspace-storage";
import { MemoryHosts } from "@reeve/toolhost/test/support/memory-workspaces";
import { keyOf } from "@reeve/toolhost/test/support/toolhost";
import { newMark } from "@reeve/sandbox/test/support/new-mark";
import { processesWith } from "@reeve/sandbox/test/support/processes-with";
import { sandboxIdentity } from "@reeve/sandbox/host/identity";
import type { Category, Verdict } from "../support/attack.ts";
import { harmed, stopped } from "../support/attack.ts";
import type { AttackBench } from "../support/attack.ts";
import { becomes } from "../support/becomes.ts";

/** The last category, because it kills the toolhost. */
export const toolhost: Category = {
  title: "The toolhost",
  attacks: [
    {
      id: "toolhost-secrets",
      attempt:
        "looks for a secret of the toolhost's environment: in all of /proc, in its own memory, in all files",
      promise: "no tool finds it",
      control: { where: "within", why: "the secret is in /proc of the toolhost, on the host" },
      run: toolhostSecrets,
    },
    {
      id: "hostile-names",
      attempt:
        "opens workspaces for tenants and runs with names such as .., a/b, with NUL, of 300 bytes",
      promise: "refused; no folder is created",
      control: { where: "within", why: "a plain name is accepted" },
      run: hostileNames,
    },
    {
      id: "toolhost-death",
      attempt: "continues as a daemon that ignores signals when its toolhost is killed",
      promise: "all of its processes end with the toolhost",
      control: { where: "within", why: "the processes are visible on the host before" },
      run: toolhostDeath,
    },
  ],
};

async function toolhostSecrets(bench: AttackBench): Promise<Verdict> {
  const host = await bench.toolhost();
  const { canary } = bench.given;
  const own = readFileSync(`/proc/${host.process.pid}/environ`, "utf8");
  if (!own.includes(canary)) throw new Error("the toolhost has no secret");
  const [head, tail] = [canary.slice(0, 8), canary.slice(8)];
  const code = `
import glob, os, re
needle = (${JSON.stringify(head)} + ${JSON.stringify(tail)}).encode()
found = []
def look(path, size=2_000_000):
    try:
        with open(path, "rb") as file:
            if needle in file.read(size): found.append(path)
    except (OSError, ValueError): pass
for pid in glob.glob("/proc/[0-9]*"):
    for name in ("environ", "cmdline", "mem", "auxv"): look(f"{pid}/{name}")
for top in ("/workspace", "/tmp", "/etc", "/dev/shm", "/run", "/var"):
    for folder, _, names in os.walk(top):
        for name in names: look(os.path.join(folder, name))
print("found", found, len(os.environ))`;
  const command = ["python3", "-I", "-c", code];
  const { content, isError } = await host.call("run_command", { command });
  if (isError) throw new Error(content);
  return content.includes("found []") ? stopped : harmed(content);
}

async function hostileNames(bench: AttackBench): Promise<Verdict> {
  const base = await mkdtemp(join(tmpdir(), "reeve-names-"));
  try {
    const root = join(base, "root");
    await mkdir(root);
    const storage = new HostWorkspaceStorage(
      { id: "here", root, identity: sandboxIdentity(64_017) },
      { isolation: bench.name, sandboxFor: () => bench.box, endIdle: async () => undefined },
    );
    const { keeper: workspaces } = new MemoryHosts().hostAt(storage, "here");
    const open = async (tenant: string, runId: string) => {
      const run = { id: runId, runId, stagedFor: runId };
      const request = { tenant, ...run, callId: "", tool: "", files: [] };
      await using _ = await workspaces.open(request, bench.signal);
    };
    const names = [
      "..",
      ".",
      "",
      "a/b",
      "../../x",
      "a\0b",
      "a\nb",
      "*",
      ">",
      "a.b",
      "%2e%2e",
      "ä",
      "x".repeat(300),
    ];
    for (const name of names) {
      for (const [tenant, runId] of [
        [name, "run_1"],
        ["acme", name],
      ] as const) {
        const isOpened = await open(tenant, runId).then(
          () => true,
          () => false,
        );
        if (isOpened) return harmed(JSON.stringify(name));
      }
    }
    await open("acme", "run_1");
    const created = readdirSync(base, { recursive: true }).map(String).toSorted();
    const expected = ["root", "root/acme", "root/acme/run_1", "root/acme/run_1/files"];
    const unexpected = created.filter((path) => !expected.includes(path));
    return unexpected.length === 0 ? stopped : harmed(unexpected.join(", "));
  } finally {
    await rm(base, { recursive: true, force: true });
  }
}

async function toolhostDeath(bench: AttackBench): Promise<Verdict> {
  const host = await bench.toolhost();
  const mark = newMark();
  const code = `
import os, signal, subprocess, time
if os.fork() == 0:
    os.setsid()
    for number in range(1, 65):
        try: signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError): pass
    while True: subprocess.run(["sleep", "${mark}"])
print("ready", flush=True)
subprocess.run(["sleep", "${mark}"])`;
  const request = await host.send("run_command", { command: ["python3", "-I", "-c", code] });
  for await (const { events } of host.journal.follow(keyOf(request), 0, bench.signal)) {
    if (events.some(({ fact }) => fact.case === "progress")) break;
  }
  const before = await becomes(
    () => processesWith(mark),
    (found) => found.length >= 2,
  );
  if (before.length < 2) throw new Error("the processes did not start");
  const { pid = 0 } = host.process;
  host.process.kill("SIGKILL");
  const left = await becomes(
    () => processesWith(mark),
    (found) => found.length === 0,
  );
  if (left.length > 0) return harmed(left.join("; "));
  const groups = () =>
    globSync(`/sys/fs/cgroup/{,memory/,pids/}reeve/${pid}.*/cgroup.procs`).flatMap((path) =>
      readFileSync(path, "utf8").split("\n").filter(Boolean),
    );
  const grouped = await becomes(groups, (found) => found.length === 0);
  if (grouped.length > 0) return harmed(`processes ${grouped.join(", ")}`);
  // Any toolhost removes sandboxes without processes.
  const orphans = async () =>
    (await bench.driver.list(bench.signal)).filter(({ sessionId }) =>
      sessionId.includes(`${pid}.`),
    );
  const known = await becomes(orphans, (found) => found.every(({ isOrphan }) => isOrphan));
  for (const { sessionId, isOrphan } of known) {
    if (!isOrphan) return harmed(`${sessionId} is not listed as an orphan`);
    await bench.driver.destroy(sessionId, bench.signal);
  }
  const remaining = await becomes(orphans, (found) => found.length === 0);
  return remaining.length === 0
    ? stopped
    : harmed(remaining.map(({ sessionId }) => sessionId).join(", "));
}

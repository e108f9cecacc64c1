import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { controlGroups } from "./control-groups.ts";

const limits = { memoryBytes: 2 ** 28, processes: 64 };
let root: string;

beforeEach(() => (root = mkdtempSync(join(tmpdir(), "reeve-groups-"))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

function file(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** A group whose files are there, as the kernel makes them with it. */
function groupWith(folder: string, files: Readonly<Record<string, string>>) {
  const groups = controlGroups(root);
  if (groups === undefined) throw new Error("groups can be made here");
  const made = groups.open("one", limits);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, folder, name), text);
  return made;
}

describe("on a host with control groups of version 2", () => {
  beforeEach(() => writeFileSync(join(root, "cgroup.controllers"), "cpuset cpu io memory pids\n"));

  test("memory and processes are bounded below one folder, and kills by memory are counted", () => {
    const group = groupWith("reeve/one", {
      "memory.events": "low 0\nhigh 0\nmax 41\noom 3\noom_kill 2\noom_group_kill 7\n",
    });
    expect(file("cgroup.subtree_control")).toBe("+memory +pids");
    expect(file("reeve/cgroup.subtree_control")).toBe("+memory +pids");
    expect(group.memoryKills()).toBe(2);
    group.add(4_711);
    expect(file("reeve/one/cgroup.procs")).toBe("4711");
  });

  test("what was counted is kept when the group is gone", async () => {
    const group = groupWith("reeve/one", { "memory.events": "oom 1\noom_kill 1\n" });
    expect(group.memoryKills()).toBe(1);
    rmSync(join(root, "reeve/one"), { recursive: true });
    await group.remove();
    expect(group.memoryKills()).toBe(1);
  });
});

test("on a host with version 1 each controller has a tree of its own", () => {
  mkdirSync(join(root, "memory"));
  mkdirSync(join(root, "pids"));
  const group = groupWith("memory/reeve/one", {
    "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n",
  });
  expect(group.memoryKills()).toBe(5);
  group.add(4_711);
  for (const controller of ["memory", "pids"]) {
    expect(file(`${controller}/reeve/one/cgroup.procs`)).toBe("4711");
  }
});

test("on a host where no group may be made there are none", () => {
  writeFileSync(join(root, "memory"), "no folder");
  expect(controlGroups(root)).toBeUndefined();
});

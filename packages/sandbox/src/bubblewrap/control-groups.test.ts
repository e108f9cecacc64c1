import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

/** Creates a group with the files that the kernel would create in it. */
function groupWith(folder: string, files: Readonly<Record<string, string>>) {
  const groups = controlGroups(root);
  if (groups === undefined) throw new Error("no control groups");
  const group = groups.open("one", limits);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, folder, name), text);
  return group;
}

describe("on a host with control groups of version 2", () => {
  beforeEach(() => writeFileSync(join(root, "cgroup.controllers"), "cpuset cpu io memory pids\n"));

  test("one folder limits memory and processes, and counts out-of-memory kills", () => {
    const group = groupWith("reeve/one", {
      "memory.events": "low 0\nhigh 0\nmax 41\noom 3\noom_kill 2\noom_group_kill 7\n",
    });
    expect(file("cgroup.subtree_control")).toBe("+memory +pids");
    expect(file("reeve/cgroup.subtree_control")).toBe("+memory +pids");
    expect(group.memoryKills()).toBe(2);
    group.add(4_711);
    expect(file("reeve/one/cgroup.procs")).toBe("4711");
  });

  test("the count of kills survives the removal of the group", async () => {
    const group = groupWith("reeve/one", { "memory.events": "oom 1\noom_kill 1\n" });
    expect(group.memoryKills()).toBe(1);
    rmSync(join(root, "reeve/one"), { recursive: true });
    await group.remove();
    expect(group.memoryKills()).toBe(1);
  });
});

test("on a host with version 1, each controller has its own tree", () => {
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

test("a host without permission to create groups has none", () => {
  writeFileSync(join(root, "memory"), "no folder");
  expect(controlGroups(root)).toBeUndefined();
});

test("a host without control groups, such as a network namespace with a new /sys, has none", () => {
  expect(controlGroups(root)).toBeUndefined();
  expect(readdirSync(root)).toEqual([]);
});

test("on a host with version 1, only a group with a number of processors is limited in time", () => {
  for (const each of ["memory", "pids", "cpu"]) mkdirSync(join(root, each));
  const groups = controlGroups(root);
  groups?.open("one", limits);
  groups?.open("two", { ...limits, cpus: 1 });
  expect(readdirSync(join(root, "cpu/reeve"))).toEqual(["two"]);
  expect(groups?.list()).toEqual(expect.arrayContaining(["one", "two"]));
});

import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { rmdir } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { ErrorReason } from "@reeve/contracts/error";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { sleep } from "@reeve/platform/async/sleep";
import { Failure } from "@reeve/platform/failure";
import type { SandboxLimits, SessionSpec } from "../port.ts";
import { defaultLimits } from "../port.ts";

type GroupLimits = Pick<SandboxLimits, "memoryBytes" | "processes"> & Pick<SessionSpec, "cpus">;

/** A group of processes whose memory and number the kernel limits together. */
export interface ControlGroup {
  /** Adds a process and all processes that it will start. Does nothing if the process has ended. */
  add(pid: number): void;
  /** Returns how many processes the kernel has killed because the group exceeded its memory. */
  memoryKills(): number;
  /** Removes the group, whose processes must be gone. */
  remove(): Promise<void>;
}

/** Manages the control groups of all bubblewrap sandboxes on this machine, including those of other toolhosts. */
export interface ControlGroups {
  open(name: string, limits: GroupLimits): ControlGroup;
  /** Returns the names of all groups, including those of other toolhosts. */
  list(): readonly string[];
  /** Kills the processes of a group and removes it. Throws a Failure if it still exists after a second. */
  destroy(name: string): Promise<void>;
}

/** Files of one controller: the folder of our groups, the values written to each group, and the counter of memory kills. */
interface Controller {
  readonly parent: string;
  readonly settings: (limits: GroupLimits) => readonly (readonly [file: string, value: number])[];
  readonly counter?: string;
  /** Whether it limits only processor time, so that only some groups need it. Default: false. */
  readonly isOptional?: boolean;
}

const defaultRoot = "/sys/fs/cgroup";
const maxAttempts = 20;
const retryMs = 50;
/** Period in which a group may use its processor time, in microseconds. */
const periodUs = 100_000;
/** The default of the kernel is 100 with version 2, and 1,024 with version 1. */
const lowWeight = { v1: 128, v2: 12 };

/** Version 1 has a tree for each controller; version 2 has one for all. */
function memoryV1(root: string): Controller {
  return {
    parent: join(root, "memory/reeve"),
    settings: ({ memoryBytes }) => [
      ["memory.limit_in_bytes", memoryBytes],
      ["memory.memsw.limit_in_bytes", memoryBytes],
    ],
    counter: "memory.oom_control",
  };
}

function processesV1(root: string): Controller {
  return {
    parent: join(root, "pids/reeve"),
    settings: ({ processes }) => [["pids.max", processes]],
  };
}

function processorsV1(root: string): Controller {
  return {
    parent: join(root, "cpu/reeve"),
    settings: ({ cpus }) =>
      cpus === undefined
        ? []
        : [
            ["cpu.cfs_period_us", periodUs],
            ["cpu.cfs_quota_us", cpus * periodUs],
            ["cpu.shares", lowWeight.v1],
          ],
    isOptional: true,
  };
}

function unified(root: string): Controller {
  return {
    parent: join(root, "reeve"),
    settings: ({ memoryBytes, processes, cpus }) => [
      ["memory.max", memoryBytes],
      ["memory.swap.max", 0],
      ["pids.max", processes],
      ...(cpus === undefined
        ? []
        : ([
            // The kernel keeps the period, which is that of version 1.
            ["cpu.max", cpus * periodUs],
            ["cpu.weight", lowWeight.v2],
          ] as const)),
    ],
    counter: "memory.events",
  };
}

/**
 * Returns the control groups of this host, or undefined if this process may not create any. Memory is then limited for each
 * process only.
 */
export function controlGroups(root = defaultRoot): ControlGroups | undefined {
  const isUnified = existsSync(join(root, "cgroup.controllers"));
  const controllers = isUnified ? [unified(root)] : [memoryV1(root), processesV1(root)];
  const processors = isUnified ? undefined : usable(processorsV1(root));
  try {
    if (isUnified) delegateControllers(root);
    // Not recursive: on a /sys without control groups, that is an endless loop in Node.
    for (const { parent } of controllers) if (!existsSync(parent)) mkdirSync(parent);
    if (isUnified) for (const { parent } of controllers) delegateControllers(parent);
    void openGroup(controllers, `trial-${randomUUID()}`, defaultLimits).remove();
  } catch {
    return undefined;
  }
  if (processors !== undefined) controllers.push(processors);
  const foldersOf = (name: string) => controllers.map(({ parent }) => join(parent, name));
  return {
    open: (name, limits) => openGroup(controllers, name, limits),
    list: () => [...new Set(controllers.flatMap(({ parent }) => groupsIn(parent)))],
    destroy: async (name) => {
      const busy: string[] = [];
      for (const folder of foldersOf(name)) if (!(await clear(folder))) busy.push(folder);
      if (busy.length > 0) throw notRemoved(busy);
    },
  };
}

/** Returns a controller that is not required, unless this process may not create its groups. */
function usable(controller: Controller): Controller | undefined {
  try {
    if (!existsSync(controller.parent)) mkdirSync(controller.parent);
    return controller;
  } catch {
    return undefined;
  }
}

/** Makes the kernel apply limits to the children of a version 2 group. Not every host lets this process limit processor time. */
function delegateControllers(group: string): void {
  try {
    writeFileSync(join(group, "cgroup.subtree_control"), "+cpu");
  } catch {
    // A group without this controller has no file for the limit.
  }
  writeFileSync(join(group, "cgroup.subtree_control"), "+memory +pids");
}

function openGroup(
  controllers: readonly Controller[],
  name: string,
  limits: GroupLimits,
): ControlGroup {
  const groups = controllers
    .filter(({ isOptional = false }) => !isOptional || limits.cpus !== undefined)
    .map((controller) => ({ controller, folder: join(controller.parent, name) }));
  for (const { controller, folder } of groups) {
    mkdirSync(folder);
    for (const [file, value] of controller.settings(limits)) {
      // Not every kernel counts swap.
      if (existsSync(join(folder, file))) writeFileSync(join(folder, file), String(value));
    }
  }
  const counters = groups.flatMap(({ controller: { counter }, folder }) =>
    counter === undefined ? [] : [join(folder, counter)],
  );
  let kills = 0;
  const memoryKills = () => {
    try {
      kills = Math.max(...counters.map(killsIn), 0);
    } catch {
      // The group was removed; the last count is final.
    }
    return kills;
  };
  return {
    add: (pid) => {
      for (const { folder } of groups) addProcess(folder, pid);
    },
    memoryKills,
    remove: async () => {
      memoryKills();
      for (const { folder } of groups) await removeFolder(folder);
    },
  };
}

function addProcess(folder: string, pid: number): void {
  try {
    writeFileSync(join(folder, "cgroup.procs"), String(pid));
  } catch (error) {
    // A process that ended has started no others, and its own complaint says more than this error.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

function killsIn(counter: string): number {
  const [, count = "0"] = /^oom_kill (\d+)/m.exec(readFileSync(counter, "utf8")) ?? [];
  return Number(count);
}

function groupsIn(parent: string): readonly string[] {
  return readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

function notRemoved(folders: readonly string[]): Failure {
  const problem = `cannot remove the control groups ${folders.join(", ")}; the next sweep retries`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
}

/** Kills the processes of a group until it can be removed. Returns whether it is gone. */
async function clear(folder: string): Promise<boolean> {
  for (let attempt = 0; attempt < maxAttempts && existsSync(folder); attempt++) {
    for (const pid of processesOf(folder)) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // The process has ended.
      }
    }
    if (await tryRemove(folder)) return true;
    await sleep(retryMs, neverAborts);
  }
  return !existsSync(folder);
}

function processesOf(folder: string): readonly number[] {
  try {
    const pids = readFileSync(join(folder, "cgroup.procs"), "utf8").split("\n").map(Number);
    // A process of another namespace appears as 0, and signaling 0 would hit our own process group.
    return pids.filter((pid) => pid > 1);
  } catch {
    return [];
  }
}

/** Removes a group. The kernel refuses for a moment after its last process has ended, so this retries. */
async function removeFolder(folder: string): Promise<void> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    if (await tryRemove(folder)) return;
    await sleep(retryMs, neverAborts);
  }
}

async function tryRemove(folder: string): Promise<boolean> {
  return await rmdir(folder).then(
    () => true,
    () => !existsSync(folder),
  );
}

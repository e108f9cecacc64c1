import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { rmdir } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { SandboxLimits } from "../port.ts";
import { defaultLimits } from "../port.ts";

/** What a group bounds. */
type GroupLimits = Pick<SandboxLimits, "memoryBytes" | "processes">;

/** One group of processes whose memory and number the kernel bounds together. */
export interface ControlGroup {
  /** Takes in a process, and with it whatever it will start. */
  add(pid: number): void;
  /** How many processes the kernel has ended because the memory of the group was full. */
  memoryKills(): number;
  /** Takes the group away, whose processes are gone. */
  remove(): Promise<void>;
}

/** The groups of all sandboxes on this machine. */
export interface ControlGroups {
  open(name: string, limits: GroupLimits): ControlGroup;
  /** Names of all groups that there are, whoever made them. */
  list(): readonly string[];
  /** Ends what is in a group, and takes it away. Throws a Failure when it is still there after a while. */
  destroy(name: string): Promise<void>;
}

/** Files of one controller: folder of our groups, what is written into each, and where kills by memory are counted. */
interface Controller {
  readonly parent: string;
  readonly settings: (limits: GroupLimits) => readonly (readonly [file: string, value: number])[];
  readonly counter?: string;
}

const defaultRoot = "/sys/fs/cgroup";
const maxAttempts = 20;
const retryMs = 50;

/** Version 1 has a tree for each controller, version 2 one for all. */
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

function unified(root: string): Controller {
  return {
    parent: join(root, "reeve"),
    settings: ({ memoryBytes, processes }) => [
      ["memory.max", memoryBytes],
      ["memory.swap.max", 0],
      ["pids.max", processes],
    ],
    counter: "memory.events",
  };
}

/** How groups are made on this host, or undefined when we may not: limits then hold for each process by itself. */
export function controlGroups(root = defaultRoot): ControlGroups | undefined {
  const isUnified = existsSync(join(root, "cgroup.controllers"));
  const controllers = isUnified ? [unified(root)] : [memoryV1(root), processesV1(root)];
  try {
    if (isUnified) passOn(root);
    for (const { parent } of controllers) mkdirSync(parent, { recursive: true });
    if (isUnified) for (const { parent } of controllers) passOn(parent);
    void openGroup(controllers, `trial-${randomUUID()}`, defaultLimits).remove();
  } catch {
    return undefined;
  }
  const foldersOf = (name: string) => controllers.map(({ parent }) => join(parent, name));
  return {
    open: (name, limits) => openGroup(controllers, name, limits),
    list: () => [...new Set(controllers.flatMap(({ parent }) => groupsIn(parent)))],
    destroy: async (name) => {
      const kept: string[] = [];
      for (const folder of foldersOf(name)) if (!(await isCleared(folder))) kept.push(folder);
      if (kept.length > 0) throw notTaken(kept);
    },
  };
}

/** Has the groups below one of version 2 bounded too. */
function passOn(group: string): void {
  writeFileSync(join(group, "cgroup.subtree_control"), "+memory +pids");
}

function openGroup(
  controllers: readonly Controller[],
  name: string,
  limits: GroupLimits,
): ControlGroup {
  const groups = controllers.map((controller) => ({
    controller,
    folder: join(controller.parent, name),
  }));
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
      // A group that is gone, or just going, has counted what it had to count.
    }
    return kills;
  };
  return {
    add: (pid) => {
      for (const { folder } of groups) writeFileSync(join(folder, "cgroup.procs"), String(pid));
    },
    memoryKills,
    remove: async () => {
      memoryKills();
      for (const { folder } of groups) await removeFolder(folder);
    },
  };
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

function notTaken(folders: readonly string[]): Failure {
  const problem = `the control group ${folders.join(", ")} cannot be taken away`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
}

/** Ends the processes of a group until it can be taken away. */
async function isCleared(folder: string): Promise<boolean> {
  for (let attempt = 0; attempt < maxAttempts && existsSync(folder); attempt++) {
    for (const pid of processesOf(folder)) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended since.
      }
    }
    if (await isRemoved(folder)) return true;
    await wait(retryMs);
  }
  return !existsSync(folder);
}

function processesOf(folder: string): readonly number[] {
  try {
    const pids = readFileSync(join(folder, "cgroup.procs"), "utf8").split("\n").map(Number);
    // A process of another namespace is shown as 0; that would be our own group.
    return pids.filter((pid) => pid > 1);
  } catch {
    return [];
  }
}

/** The kernel refuses for a moment after the last process is gone. */
async function removeFolder(folder: string): Promise<void> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    if (await isRemoved(folder)) return;
    await wait(retryMs);
  }
}

async function isRemoved(folder: string): Promise<boolean> {
  return await rmdir(folder).then(
    () => true,
    () => !existsSync(folder),
  );
}

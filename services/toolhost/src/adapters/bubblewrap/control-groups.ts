import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { rmdir } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import type { SandboxLimits } from "../../ports/sandbox.ts";
import { defaultLimits } from "../../ports/sandbox.ts";

/** One group of processes whose memory and number the kernel bounds together. */
export interface ControlGroup {
  /** Takes in a process, and with it whatever it will start. */
  add(pid: number): void;
  /** Whether the kernel ended a process of the group because its memory was full. */
  ranOutOfMemory(): boolean;
  /** Takes the group away once its processes are gone. */
  remove(): void;
}

export type OpenControlGroup = (limits: SandboxLimits) => ControlGroup;

/** Files of one controller: folder of our groups, what is written into each, and where kills by memory are counted. */
interface Controller {
  readonly parent: string;
  readonly settings: (limits: SandboxLimits) => readonly (readonly [file: string, value: number])[];
  readonly counter?: string;
}

const root = "/sys/fs/cgroup";
const mostAttempts = 20;
const retryMs = 50;

const memoryV1: Controller = {
  parent: join(root, "memory/reeve"),
  settings: ({ memoryBytes }) => [
    ["memory.limit_in_bytes", memoryBytes],
    ["memory.memsw.limit_in_bytes", memoryBytes],
  ],
  counter: "memory.oom_control",
};
const processesV1: Controller = {
  parent: join(root, "pids/reeve"),
  settings: ({ processes }) => [["pids.max", processes]],
};
const unified: Controller = {
  parent: join(root, "reeve"),
  settings: ({ memoryBytes, processes }) => [
    ["memory.max", memoryBytes],
    ["memory.swap.max", 0],
    ["pids.max", processes],
  ],
  counter: "memory.events",
};

/** How groups are made on this host, or undefined when we may not: limits then hold for each process by itself. */
export function controlGroups(): OpenControlGroup | undefined {
  const controllers = existsSync(join(root, "cgroup.controllers"))
    ? [unified]
    : [memoryV1, processesV1];
  const open: OpenControlGroup = (limits) => openGroup(controllers, limits);
  try {
    if (controllers.includes(unified))
      writeFileSync(join(root, "cgroup.subtree_control"), "+memory +pids");
    for (const { parent } of controllers) mkdirSync(parent, { recursive: true });
    if (controllers.includes(unified))
      writeFileSync(join(unified.parent, "cgroup.subtree_control"), "+memory +pids");
    for (const { parent } of controllers) sweep(parent);
    open({ ...defaultLimits, timeoutMs: 0 }).remove();
    return open;
  } catch {
    return undefined;
  }
}

function openGroup(controllers: readonly Controller[], limits: SandboxLimits): ControlGroup {
  const name = `${process.pid}-${randomBytes(6).toString("hex")}`;
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
  return {
    add: (pid) => {
      for (const { folder } of groups) writeFileSync(join(folder, "cgroup.procs"), String(pid));
    },
    ranOutOfMemory: () =>
      groups.some(
        ({ controller: { counter }, folder }) =>
          counter !== undefined &&
          /^oom_kill [1-9]/m.test(readFileSync(join(folder, counter), "utf8")),
      ),
    remove: () => {
      for (const { folder } of groups) removeFolder(folder);
    },
  };
}

/** Takes away what toolhosts that were killed have left; the kernel keeps a group that still has processes. */
function sweep(parent: string): void {
  for (const name of readdirSync(parent)) {
    const [, owner] = /^(\d+)-[0-9a-f]+$/.exec(name) ?? [];
    if (owner === undefined || existsSync(`/proc/${owner}`)) continue;
    removeFolder(join(parent, name));
  }
}

/** The kernel refuses for a moment after the last process is gone. */
function removeFolder(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    void removeLater(folder);
  }
}

async function removeLater(folder: string): Promise<void> {
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    await wait(retryMs, undefined, { ref: false });
    const isGone = await rmdir(folder).then(
      () => true,
      () => false,
    );
    if (isGone) return;
  }
}

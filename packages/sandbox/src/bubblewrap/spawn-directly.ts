import type { ChildProcess, IOType } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import { devNull } from "node:os";
import type { Duplex } from "node:stream";
import type { Identity } from "../host/identity.ts";
import type { StartedProcess } from "./started-process.ts";

/** O_CLOEXEC in the flags of a descriptor in /proc. */
const closeOnExec = 0o2000000;

/** Starts a program with an empty environment, as a child of this process. Rejects if it does not run. */
export async function spawnDirectly(
  program: string,
  args: readonly string[],
  identity: Identity,
  descriptors: number,
): Promise<StartedProcess> {
  const child = spawnIsolated(program, args, identity, descriptors);
  const exited = once(child, "exit");
  exited.catch(() => undefined);
  await once(child, "spawn");
  return {
    pid: child.pid ?? -1,
    get hasEnded() {
      return child.exitCode !== null || child.signalCode !== null;
    },
    ended: exited.then(() => undefined),
    pipes: Array.from({ length: descriptors }, (_, index) => child.stdio[index] as Duplex),
    kill: () => void child.kill("SIGKILL"),
  };
}

/** Spawns a program with new pipes only: descriptors that it would inherit from us are replaced by /dev/null. */
export function spawnIsolated(
  program: string,
  args: readonly string[],
  identity: Identity,
  descriptors: number,
): ChildProcess {
  const pipes = Array.from({ length: descriptors }, () => "pipe" as const);
  const nullDevice = openSync(devNull, "r+");
  const stdio: (IOType | number)[] = [...pipes];
  for (const descriptor of inheritedDescriptors()) {
    if (descriptor < pipes.length) continue;
    while (stdio.length < descriptor) stdio.push("ignore");
    stdio[descriptor] = nullDevice;
  }
  try {
    return spawn(program, args, {
      cwd: "/",
      env: {},
      stdio,
      ...(identity.isDedicated && { uid: identity.uid, gid: identity.gid }),
    });
  } finally {
    closeSync(nullDevice);
  }
}

/** Returns the descriptors that this process inherited and that a child would inherit. Those that Node opens are not inherited. */
function inheritedDescriptors(): readonly number[] {
  return readdirSync("/proc/self/fd")
    .map(Number)
    .filter((descriptor) => descriptor > 2 && isInheritable(descriptor));
}

function isInheritable(descriptor: number): boolean {
  try {
    const [, flags = "0"] =
      /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8")) ?? [];
    return (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    // Closed since it was listed.
    return false;
  }
}

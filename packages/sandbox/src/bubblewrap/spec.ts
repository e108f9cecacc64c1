import { environment } from "../agent/call-limits.ts";
import type { SystemView } from "../host/system-view.ts";
import { proxyMount } from "../agent/proxy-environment.ts";
import { skillsMount } from "../host/skills-mount.ts";

/** File descriptors besides the standard ones. They are not visible inside the sandbox. */
export const descriptors = { seccomp: 3, info: 4, block: 5 } as const;

const tmpBytes = 256 * 2 ** 20;
const sharedMemoryBytes = 64 * 2 ** 20;

export interface BwrapSettings {
  readonly workspaceDir: string;
  readonly readOnly: boolean;
  /** Folder with the socket of a proxy. Default: no network. */
  readonly proxyDir?: string;
  /** Folder of skills, whose mount point exists. Default: none. */
  readonly skillsDir?: string;
  /** Command of the first process. */
  readonly agent: readonly string[];
  readonly system: SystemView;
}

/** Returns the arguments of bwrap for one sandbox. Each of them prevents an attack that the adversarial tests try. */
export function bwrapArguments({
  workspaceDir,
  readOnly,
  proxyDir,
  skillsDir,
  agent,
  system,
}: BwrapSettings): readonly string[] {
  return [
    ["--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--as-pid-1"],
    ["--new-session", "--hostname", "sandbox", "--clearenv"],
    Object.entries(environment).flatMap(([name, value]) => ["--setenv", name, value]),
    system.folders.flatMap((folder) => ["--ro-bind", folder, folder]),
    system.links.flatMap(({ from, to }) => ["--symlink", to, from]),
    system.files.flatMap((file) => ["--ro-bind", file, file]),
    // The namespaces have tunables that would persist after the call that changes them.
    ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev"],
    ["--size", String(sharedMemoryBytes), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"],
    ["--size", String(tmpBytes), "--tmpfs", "/tmp"],
    [readOnly ? "--ro-bind" : "--bind", workspaceDir, "/workspace", "--chdir", "/workspace"],
    skillsDir === undefined ? [] : ["--ro-bind", skillsDir, skillsMount],
    proxyDir === undefined ? [] : ["--ro-bind", proxyDir, proxyMount],
    ["--info-fd", String(descriptors.info), "--block-fd", String(descriptors.block)],
    ["--cap-drop", "ALL", "--seccomp", String(descriptors.seccomp), "--remount-ro", "/", "--"],
    agent,
  ].flat();
}

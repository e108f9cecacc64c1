import type { SandboxCommand } from "../../ports/sandbox.ts";

/** What of the host a sandbox sees, read-only. */
export interface SystemView {
  /** Folders that are mounted as they are: `/usr`. */
  readonly folders: readonly string[];
  /** Links at the root: `/bin` to `usr/bin`. */
  readonly links: readonly { readonly from: string; readonly to: string }[];
  /** Files of `/etc` that programs cannot do without. */
  readonly files: readonly string[];
}

/** File descriptors beside the standard ones; commands see no more of them than `result`. */
export const descriptors = { result: 3, seccomp: 4, info: 5, block: 6, gate: 7 } as const;

/**
 * The first program of every sandbox. It begins the command only when the toolhost says so. Until bwrap has bound the
 * sandbox to its own life, which is late, a toolhost that dies would leave a command that nobody ends.
 */
const gatekeeper = `echo ready >&${descriptors.gate}
read -r word <&${descriptors.gate} && [ "$word" = go ] || exit 125
exec ${descriptors.gate}>&-
exec "$@"`;

const tmpBytes = 256 * 2 ** 20;
const sharedMemoryBytes = 64 * 2 ** 20;
const reservedPerUsed = 4;

const environment: Readonly<Record<string, string>> = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  HOME: "/workspace",
  TMPDIR: "/tmp",
  LANG: "C.UTF-8",
};

export interface BwrapSetting {
  readonly workspaceDir: string;
  readonly prlimit: string;
  readonly system: SystemView;
  /** Whether a control group bounds the memory; programs may then reserve more addresses than they use. */
  readonly isGrouped: boolean;
}

/** The arguments of bwrap for one command. Each of them is there for an attack; the system tests try them. */
export function bwrapArguments(
  { argv, env = {}, readOnly = false, limits }: SandboxCommand,
  { workspaceDir, prlimit, system, isGrouped }: BwrapSetting,
): readonly string[] {
  const addressBytes = limits.memoryBytes * (isGrouped ? reservedPerUsed : 1);
  const cpuSeconds = Math.ceil(limits.timeoutMs / 1_000) + 1;
  const variables = Object.entries({ ...environment, ...env });
  return [
    ["--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent"],
    ["--new-session", "--hostname", "sandbox", "--clearenv"],
    variables.flatMap(([name, value]) => ["--setenv", name, value]),
    system.folders.flatMap((folder) => ["--ro-bind", folder, folder]),
    system.links.flatMap(({ from, to }) => ["--symlink", to, from]),
    system.files.flatMap((file) => ["--ro-bind", file, file]),
    ["--proc", "/proc", "--dev", "/dev"],
    ["--size", String(sharedMemoryBytes), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"],
    ["--size", String(tmpBytes), "--tmpfs", "/tmp"],
    [readOnly ? "--ro-bind" : "--bind", workspaceDir, "/workspace", "--chdir", "/workspace"],
    ["--info-fd", String(descriptors.info), "--block-fd", String(descriptors.block)],
    ["--cap-drop", "ALL", "--seccomp", String(descriptors.seccomp), "--remount-ro", "/", "--"],
    ["/bin/sh", "-c", gatekeeper, "sh"],
    // Set inside, the limit of processes counts those of this sandbox alone, not all that have our uid.
    [prlimit, `--as=${addressBytes}`, `--nproc=${limits.processes}`],
    [`--fsize=${limits.fileBytes}`, "--nofile=1024", "--core=0", "--memlock=0"],
    // The first of the two ends it by a signal of its own, which tells why.
    [`--cpu=${cpuSeconds}:${cpuSeconds + 1}`, "--", ...argv],
  ].flat();
}

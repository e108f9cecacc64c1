import { writeFileSync } from "node:fs";
import { arch } from "node:process";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { seccompProgram } from "@reeve/sandbox/seccomp/seccomp-program";
import type { Identity } from "@reeve/sandbox/host/identity";
import { systemProgram, systemView } from "@reeve/sandbox/host/system-view";
import type { StdioServerConfig } from "./mcp-config.ts";

/** A program and its arguments. */
export interface Command {
  readonly command: string;
  readonly args: readonly string[];
}

const tmpBytes = 256 * 2 ** 20;

/** Limits of each single process: writable memory, number of processes, open files, and core dumps. */
const limits = [`--data=${4 * 2 ** 30}`, "--nproc=256", "--nofile=4096", "--core=0"];

/** Files for name resolution and certificates, for a server that may use the network. */
const networkFiles = [
  "/etc/resolv.conf",
  "/etc/hosts",
  "/etc/nsswitch.conf",
  "/etc/ssl",
  "/etc/ca-certificates",
  "/etc/pki",
  "/run/systemd/resolve",
];

/** The filter is opened from a file as descriptor 4, because the transport passes on only three descriptors. */
const openFilter = 'filter=$1; shift; exec "$@" 4<"$filter"';

/**
 * Returns the command that runs a server in a sandbox. The server sees the system files and, of other host files, only its
 * `read` and `write` paths. It has a separate environment, no privileges and, unless permitted, no network. It ends with its
 * toolhost. Writes the filter of system calls to `filterFile`. Throws a Failure when no sandbox is available.
 */
export function sandboxedCommand(
  { command, args, env, read, write, network }: StdioServerConfig,
  identity: Identity,
  filterFile: string,
): Command {
  const bwrap = program("bwrap", "bubblewrap");
  const prlimit = program("prlimit", "util-linux");
  const filter = seccompProgram(arch);
  if (filter === undefined) throw unavailable(`there is no filter of system calls for ${arch}`);
  writeFileSync(filterFile, filter, { mode: 0o444 });
  const system = systemView();
  const sandbox = [
    ["--unshare-all", ...(network ? ["--share-net"] : [])],
    ["--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"],
    environmentOf(env),
    bound("--ro-bind", system.folders),
    system.links.flatMap(({ from, to }) => ["--symlink", to, from]),
    bound("--ro-bind", system.files),
    network ? bound("--ro-bind-try", networkFiles) : [],
    ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"],
    ["--size", String(tmpBytes), "--tmpfs", "/tmp"],
    bound("--ro-bind", read),
    bound("--bind", write),
    ["--chdir", "/tmp", "--cap-drop", "ALL", "--seccomp", "4", "--remount-ro", "/"],
    ["--", prlimit, ...limits, "--", command, ...args],
  ].flat();
  return {
    command: "/bin/sh",
    args: ["-c", openFilter, "sh", filterFile, ...asUser(identity), bwrap, ...sandbox],
  };
}

/**
 * The variables of the server are inherited from the process that starts it: as arguments, everyone on the host could read
 * them. Other variables that are inherited with them are unset.
 */
function environmentOf(env: StdioServerConfig["env"]): readonly string[] {
  const defaults = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/tmp", LANG: "C.UTF-8" };
  const inherited = ["LOGNAME", "SHELL", "TERM", "USER", "PWD"];
  const isOwn = (name: string) => Object.hasOwn(env, name);
  return [
    ...inherited.filter((name) => !isOwn(name)).flatMap((name) => ["--unsetenv", name]),
    ...Object.entries(defaults)
      .filter(([name]) => !isOwn(name))
      .flatMap(([name, value]) => ["--setenv", name, value]),
  ];
}

function bound(flag: string, paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => [flag, path, path]);
}

/** If the toolhost runs as root, sandboxes run as another user: a program that escapes is not root. */
function asUser({ isDedicated, uid, gid }: Identity): readonly string[] {
  if (!isDedicated) return [];
  const setpriv = program("setpriv", "util-linux");
  return [setpriv, `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--inh-caps=-all", "--"];
}

function program(name: string, packageName: string): string {
  const path = systemProgram(name);
  if (path !== undefined) return path;
  throw unavailable(
    `${name} is not installed; install the package ${packageName}, or set "sandbox": false`,
  );
}

function unavailable(problem: string): Failure {
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, `no sandbox: ${problem}`);
}

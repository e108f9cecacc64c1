import { writeFileSync } from "node:fs";
import { arch } from "node:process";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { seccompProgram } from "@reeve/sandbox/seccomp/seccomp-program";
import type { Identity } from "@reeve/sandbox/host/identity";
import { systemProgram, systemView } from "@reeve/sandbox/host/system-view";
import type { StdioServerConfig } from "./mcp-config.ts";

/** A program with its arguments, as it is to be started. */
export interface Command {
  readonly command: string;
  readonly args: readonly string[];
}

const tmpBytes = 256 * 2 ** 20;

/** Of each process by itself: bytes that it writes to, processes beside it, files, and what it leaves when it breaks. */
const limits = [`--data=${4 * 2 ** 30}`, "--nproc=256", "--nofile=4096", "--core=0"];

/** What names and certificates need, for a server that may use the network. */
const networkFiles = [
  "/etc/resolv.conf",
  "/etc/hosts",
  "/etc/nsswitch.conf",
  "/etc/ssl",
  "/etc/ca-certificates",
  "/etc/pki",
  "/run/systemd/resolve",
];

/** The filter comes as descriptor 4 out of a file, because whoever starts the command hands over three descriptors only. */
const openFilter = 'filter=$1; shift; exec "$@" 4<"$filter"';

/**
 * The command of a server inside a sandbox: it sees the system, and of the host nothing but its `read` and `write` paths;
 * it has an environment of its own, no privileges and, unless permitted, no network. It ends with its toolhost. Throws a
 * Failure where no sandbox can be had. The filter of system calls is written to `filterFile`.
 */
export function sandboxedCommand(
  { command, args, env, read, write, network }: StdioServerConfig,
  identity: Identity,
  filterFile: string,
): Command {
  const bwrap = program("bwrap", "bubblewrap");
  const prlimit = program("prlimit", "util-linux");
  const filter = seccompProgram(arch);
  if (filter === undefined) throw unavailable(`no filter of system calls is known for ${arch}`);
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
 * Its own variables are handed down from whoever starts it: as arguments everybody on the host could read them. What comes
 * with them from our environment is taken away.
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

/** Root's sandboxes are nobody's: a program that breaks out of one is not root. */
function asUser({ isDedicated, uid, gid }: Identity): readonly string[] {
  if (!isDedicated) return [];
  const setpriv = program("setpriv", "util-linux");
  return [setpriv, `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--inh-caps=-all", "--"];
}

function program(name: string, packageName: string): string {
  const path = systemProgram(name);
  if (path !== undefined) return path;
  throw unavailable(
    `${name} is not there; install the package ${packageName}, or set "sandbox": false`,
  );
}

function unavailable(problem: string): Failure {
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, `no sandbox: ${problem}`);
}

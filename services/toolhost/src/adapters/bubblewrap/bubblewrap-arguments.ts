import { existsSync, lstatSync } from "node:fs";

/** Room for temporary files, in bytes. */
const temporaryBytes = 64 * 1024 * 1024;

/** Folders of the system that programs need, as far as this machine has them. */
const systemFolders = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"] as const;
const systemFiles = ["/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives"] as const;

const environment = [
  ["PATH", "/usr/local/bin:/usr/bin:/bin"],
  ["HOME", "/workspace"],
  ["LANG", "C.UTF-8"],
  ["TMPDIR", "/tmp"],
] as const;

/**
 * The arguments by which bubblewrap makes a place apart: namespaces of every kind, nothing of the host but a read-only
 * system, no network, no privileges, an empty environment, and the workspace as the only place that is kept.
 */
export function bubblewrapArguments(workspaceDir: string, seccompFd: number): readonly string[] {
  return [
    "--unshare-all",
    "--unshare-user",
    "--disable-userns",
    "--die-with-parent",
    "--new-session",
    "--hostname",
    "sandbox",
    "--uid",
    "1000",
    "--gid",
    "1000",
    "--cap-drop",
    "ALL",
    "--clearenv",
    ...environment.flatMap(([name, value]) => ["--setenv", name, value]),
    ...systemFolders.filter((path) => existsSync(path)).flatMap(systemFolder),
    ...systemFiles.filter((path) => existsSync(path)).flatMap((path) => ["--ro-bind", path, path]),
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--size",
    String(temporaryBytes),
    "--tmpfs",
    "/tmp",
    "--bind",
    workspaceDir,
    "/workspace",
    "--chdir",
    "/workspace",
    "--remount-ro",
    "/",
    "--seccomp",
    String(seccompFd),
    "--",
  ];
}

/** Where the system has merged its folders, the links are made again. */
function systemFolder(path: string): readonly string[] {
  const isLink = lstatSync(path).isSymbolicLink();
  return isLink ? ["--symlink", `usr${path}`, path] : ["--ro-bind", path, path];
}

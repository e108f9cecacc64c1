import { existsSync, lstatSync } from "node:fs";

/** Room for temporary files, in bytes. */
const temporaryBytes = 64 * 1024 * 1024;

const sharedMemoryBytes = 64 * 1024 * 1024;

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
 * system, no network, no privileges, an empty environment, and the workspace as the only place that is kept. `hostname` is
 * of this one sandbox: by it the host finds its processes again.
 */
export function bubblewrapArguments(
  workspaceDir: string,
  hostname: string,
  seccompFd: number,
): readonly string[] {
  return [
    "--unshare-all",
    "--unshare-user",
    "--disable-userns",
    "--die-with-parent",
    "--new-session",
    "--hostname",
    hostname,
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
    String(sharedMemoryBytes),
    "--tmpfs",
    "/dev/shm",
    "--remount-ro",
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

/**
 * The arguments that limit what a command takes: memory and file size in bytes, processes, open files, processor time. Set
 * inside the sandbox, the limit of processes counts those of this sandbox alone and not all of its user.
 */
export function limitArguments(prlimit: string, timeoutMs: number): readonly string[] {
  return [
    prlimit,
    `--as=${2 * 1024 ** 3}`,
    `--fsize=${256 * 1024 ** 2}`,
    "--nproc=256",
    "--nofile=1024",
    "--core=0",
    "--memlock=0",
    `--cpu=${Math.ceil(timeoutMs / 1_000) + 1}`,
    "--",
  ];
}

/** Where the system has merged its folders, the links are made again. */
function systemFolder(path: string): readonly string[] {
  const isLink = lstatSync(path).isSymbolicLink();
  return isLink ? ["--symlink", `usr${path}`, path] : ["--ro-bind", path, path];
}

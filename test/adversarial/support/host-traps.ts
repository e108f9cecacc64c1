import { execFileSync, spawn } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { once } from "node:events";
import { chmod, chown, mkdir, mkdtemp, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { Identity } from "@reeve/sandbox/host/identity";

/** Targets on this machine that attacks try to reach. */
export interface HostTraps {
  readonly canary: string;
  /** A file, a folder, and a socket that all users of the machine may use. */
  readonly hostFile: string;
  readonly elsewhere: string;
  readonly socket: string;
  /** Name of an abstract socket. */
  readonly abstract: string;
  /** Services of the host, on all of its addresses. */
  readonly listeners: readonly (readonly [address: string, port: number])[];
  readonly sharedKey: number;
  /** The socket of the container engine. */
  readonly engine: string;
}

/** Creates the targets. Disposing `resources` removes them. */
export async function hostTraps(
  unprivileged: Identity,
  resources: AsyncDisposableStack,
): Promise<HostTraps> {
  const folder = await mkdtemp(join(tmpdir(), "reeve-traps-"));
  resources.defer(() => void execFileSync("rm", ["-rf", folder]));
  await chmod(folder, 0o755);
  const hostFile = join(folder, "for-everybody");
  await writeFile(hostFile, "of the host", { mode: 0o644 });
  const socket = join(folder, "socket");
  const abstract = `reeve-attack-${randomBytes(6).toString("hex")}`;
  for (const path of [socket, `\0${abstract}`]) await listen({ path }, resources);
  await chmod(socket, 0o777);
  const { port } = (await listen({ port: 0, host: "::" }, resources)) as AddressInfo;
  const addresses = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .filter(({ scopeid = 0 }) => scopeid === 0)
    .map(({ address }) => [address, port] as const);
  const sharedKey = randomInt(1, 2 ** 30);
  await sharedMemory(sharedKey, unprivileged, resources);
  return {
    canary: `canary-${randomBytes(8).toString("hex")}`,
    hostFile,
    elsewhere: folder,
    socket,
    abstract,
    listeners: addresses,
    sharedKey,
    engine: (process.env["DOCKER_HOST"] ?? "").replace(/^unix:\/\//, "") || "/var/run/docker.sock",
  };
}

/** Creates the workspaces of two runs, the second with a secret, for sandboxes of `identity`. */
export async function workspaces(
  identity: Identity,
  resources: AsyncDisposableStack,
): Promise<{ readonly folder: string; readonly workspace: string; readonly secret: string }> {
  const folder = await mkdtemp(join(tmpdir(), "reeve-attack-"));
  resources.defer(() => void execFileSync("rm", ["-rf", folder]));
  await chmod(folder, 0o755);
  const [workspace, other] = [join(folder, "run_a"), join(folder, "run_b")];
  const secret = join(other, "secret.txt");
  for (const path of [workspace, other]) await mkdir(path, { mode: 0o700 });
  await writeFile(secret, "the secret of another session");
  for (const path of [workspace, other, secret]) await chown(path, identity.uid, identity.gid);
  return { folder, workspace, secret };
}

async function listen(
  where: { readonly path: string } | { readonly port: number; readonly host: string },
  resources: AsyncDisposableStack,
): Promise<AddressInfo | string | null> {
  const server = createServer((socket) => socket.on("error", () => undefined).end());
  resources.defer(() => void server.close());
  server.listen(where);
  await once(server, "listening");
  return server.address();
}

/** Creates System V shared memory, which exists until it is removed explicitly. */
async function sharedMemory(
  key: number,
  { uid, gid, isDedicated }: Identity,
  resources: AsyncDisposableStack,
): Promise<void> {
  const code = `
import ctypes, sys
libc = ctypes.CDLL(None)
number = libc.shmget(${key}, 4096, 0o1666)
print(number, flush=True)
sys.stdin.read()
libc.shmctl(number, 0, None)`;
  const child = spawn("/usr/bin/python3", ["-I", "-c", code], {
    stdio: ["pipe", "pipe", "inherit"],
    env: {},
    ...(isDedicated && { uid, gid }),
  });
  resources.defer(async () => {
    child.stdin.end();
    if (child.exitCode === null) await once(child, "exit");
  });
  await once(child.stdout, "data");
}

import { randomBytes } from "node:crypto";
import { chmod, chown, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Identity } from "../host/identity.ts";
import { isOwnerGone, machineIdHash, ownerName } from "../host/owner.ts";
import { privateFolder } from "../host/workspace-root.ts";

/** A folder with the socket of one proxy, to mount into a sandbox. */
export interface ProxyFolder extends AsyncDisposable {
  readonly path: string;
  /** Calls `listen` with a path that is short enough for a socket, and then lets sandboxes use the socket. */
  publish(listen: (path: string) => Promise<void>): Promise<void>;
}

const name = "proxy";

/** Creates a proxy folder below `below`, and deletes those of dead toolhosts of this machine. Disposing deletes it. */
export async function proxyFolder(below: string, identity: Identity): Promise<ProxyFolder> {
  const parent = privateFolder(below, identity);
  await sweep(parent);
  const own = [machineIdHash(), ownerName() ?? "0.0", randomBytes(6).toString("hex")];
  const path = privateFolder(join(parent, own.join("~")), identity);
  const handle = await open(path, "r");
  return {
    path,
    publish: async (listen) => {
      // The path of a data folder may exceed the maximum length of a socket path.
      await listen(`/proc/self/fd/${handle.fd}/${name}`);
      await chmod(join(path, name), 0o600);
      if (identity.isDedicated) await chown(join(path, name), identity.uid, identity.gid);
    },
    [Symbol.asyncDispose]: async () => {
      await handle.close();
      await rm(path, { recursive: true, force: true });
    },
  };
}

async function sweep(parent: string): Promise<void> {
  for (const entry of await readdir(parent)) {
    const [machine, owner = ""] = entry.split("~");
    if (machine === machineIdHash() && isOwnerGone(owner))
      await rm(join(parent, entry), { recursive: true, force: true });
  }
}

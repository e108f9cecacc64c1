import { randomBytes } from "node:crypto";
import { chmod, chown, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Identity } from "../host/identity.ts";
import { isOwnerGone, machineIdHash, ownerName } from "../host/owner.ts";
import { privateFolder } from "../host/workspace-root.ts";

/** A folder for the socket of one proxy, which sandboxes may enter. */
export interface ProxyFolder extends AsyncDisposable {
  readonly path: string;
  /** Has the socket made by `listen`, at a path that is short enough for one, and gives it to the sandboxes. */
  publish(listen: (path: string) => Promise<void>): Promise<void>;
}

const name = "proxy";

/** Makes one below a folder, and takes away those of toolhosts of this machine that are gone. */
export async function proxyFolder(below: string, identity: Identity): Promise<ProxyFolder> {
  const parent = privateFolder(below, identity);
  await sweep(parent);
  const own = [machineIdHash(), ownerName() ?? "0.0", randomBytes(6).toString("hex")];
  const path = privateFolder(join(parent, own.join("~")), identity);
  const handle = await open(path, "r");
  return {
    path,
    publish: async (listen) => {
      // A data folder may have a longer path than a socket can.
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

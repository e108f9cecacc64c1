import { chmod, chown, open } from "node:fs/promises";
import { join } from "node:path";
import type { Identity } from "../host/identity.ts";
import type { OwnedFolder } from "../host/owned-folder.ts";
import { ownedFolder } from "../host/owned-folder.ts";

/** A folder with the socket of one proxy, to mount into a sandbox. */
export interface ProxyFolder extends OwnedFolder {
  /** Calls `listen` with a path that is short enough for a socket, and then lets sandboxes use the socket. */
  publish(listen: (path: string) => Promise<void>): Promise<void>;
}

const name = "proxy";

/** Creates a proxy folder below `below`, and deletes those of dead toolhosts of this machine. Disposing deletes it. */
export async function proxyFolder(below: string, identity: Identity): Promise<ProxyFolder> {
  await using opening = new AsyncDisposableStack();
  const { path } = opening.use(await ownedFolder(below, identity));
  const handle = await open(path, "r");
  opening.defer(() => handle.close());
  const resources = opening.move();
  return {
    path,
    publish: async (listen) => {
      // The path of a data folder may exceed the maximum length of a socket path.
      await listen(`/proc/self/fd/${handle.fd}/${name}`);
      await chmod(join(path, name), 0o600);
      if (identity.isDedicated) await chown(join(path, name), identity.uid, identity.gid);
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Identity } from "./identity.ts";
import { isOwnerGone, machineIdHash, ownerName } from "./owner.ts";
import { privateFolder } from "./workspace-root.ts";

/** A folder that exists as long as its owner does. Disposing deletes it. */
export interface OwnedFolder extends AsyncDisposable {
  readonly path: string;
}

/** Creates a folder of this process below `below`, and deletes those of dead processes of this machine. */
export async function ownedFolder(below: string, identity: Identity): Promise<OwnedFolder> {
  const parent = privateFolder(below, identity);
  await sweepOwnedFolders(parent);
  const own = [machineIdHash(), ownerName() ?? "0.0", randomBytes(6).toString("hex")];
  const path = privateFolder(join(parent, own.join("~")), identity);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Deletes the owned folders below `parent` of dead processes of this machine. A missing `parent` is not an error. */
export async function sweepOwnedFolders(parent: string): Promise<void> {
  if (!existsSync(parent)) return;
  for (const entry of await readdir(parent)) {
    const [machine, owner = ""] = entry.split("~");
    if (machine === machineIdHash() && isOwnerGone(owner))
      await rm(join(parent, entry), { recursive: true, force: true });
  }
}

import { randomBytes } from "node:crypto";
import { chown, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Identity } from "../host/identity.ts";

/** Creates a folder with an unguessable file, `mark`, which shows whether an engine sees the same folder. Disposing deletes it. */
export async function probeFolder(
  below: string,
  { uid, gid, isDedicated }: Identity,
): Promise<AsyncDisposable & { readonly path: string; readonly mark: string }> {
  const mark = randomBytes(12).toString("hex");
  const path = join(below, `probe-${mark}`);
  await mkdir(path, { recursive: true, mode: 0o700 });
  await writeFile(join(path, mark), "");
  if (isDedicated) await chown(path, uid, gid);
  return {
    path,
    mark,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

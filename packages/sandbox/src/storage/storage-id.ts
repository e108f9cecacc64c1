import { randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Returns the permanent name of a data folder, which is stored in its file `place`. The first call creates it, so all hosts
 * that share the folder see the same name.
 */
export function storageId(dataDir: string): string {
  const path = join(dataDir, "place");
  const known = read(path);
  if (known !== undefined) return known;
  mkdirSync(dataDir, { recursive: true });
  const draft = `${path}.${randomBytes(8).toString("hex")}`;
  writeFileSync(draft, `place-${randomBytes(12).toString("hex")}\n`, { mode: 0o600 });
  try {
    // A link is atomic: if two processes create the file at once, the first wins and no reader sees half of it.
    linkSync(draft, path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  } finally {
    rmSync(draft);
  }
  return read(path) ?? "";
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

import { randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The name of a data folder, which is made once and lies in it: whoever sees the same folder knows it by the same name. */
export function storageId(dataDir: string): string {
  const path = join(dataDir, "place");
  const known = read(path);
  if (known !== undefined) return known;
  mkdirSync(dataDir, { recursive: true });
  const draft = `${path}.${randomBytes(8).toString("hex")}`;
  writeFileSync(draft, `place-${randomBytes(12).toString("hex")}\n`, { mode: 0o600 });
  try {
    // Of two that make it at once the first one's stands, and nobody reads half of it.
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

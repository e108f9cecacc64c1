import { createHash } from "node:crypto";
import { globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const inputs = [
  "{packages,services,cli,sdk/typescript}/**/*",
  "examples/**/*",
  "deploy/images/*",
  "package-lock.json",
];

/** A digest of what bases are made of on this machine: its packages, its Node, and how they are put together. */
export function machineFingerprint(): string {
  const hash = createHash("sha256").update(process.version);
  const how = globSync("*.ts", { cwd: import.meta.dirname }).toSorted();
  for (const path of [
    "/var/lib/dpkg/status",
    ...how.map((file) => join(import.meta.dirname, file)),
  ]) {
    hash.update(readFileSync(path)).update("\0");
  }
  return hash.digest("hex");
}

/** A digest of all files of a checkout that an image is made of, on bases with a digest of their own. */
export function fingerprint(root: string, bases = ""): string {
  const hash = createHash("sha256").update(bases);
  const found = inputs.flatMap((pattern) => globSync(pattern, { cwd: root, exclude: isOutside }));
  for (const path of found.toSorted()) {
    const full = join(root, path);
    if (path.endsWith(".test.ts") || !statSync(full).isFile()) continue;
    hash.update(`${path}\0`).update(readFileSync(full)).update("\0");
  }
  return hash.digest("hex");
}

function isOutside(path: string): boolean {
  return /(?:^|\/)(?:node_modules|test|dist|\.reeve)$/.test(path);
}

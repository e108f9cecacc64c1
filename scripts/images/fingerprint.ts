import { createHash } from "node:crypto";
import { globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const inputs = [
  "{packages,services,cli,sdk/typescript}/**/*",
  "console/**/*",
  "examples/**/*",
  "deploy/images/*",
  "deploy/compose/keys.mjs",
  "scripts/programs/**/*",
  "package-lock.json",
];

/** Returns a digest of what local bases are built from: the packages of this machine, its Node, and the scripts here. */
export function machineFingerprint(): string {
  const hash = createHash("sha256").update(process.version);
  const scripts = globSync("*.ts", { cwd: import.meta.dirname }).toSorted();
  for (const path of [
    "/var/lib/dpkg/status",
    ...scripts.map((file) => join(import.meta.dirname, file)),
  ]) {
    hash.update(readFileSync(path)).update("\0");
  }
  return hash.digest("hex");
}

/** Returns a digest of the files in a checkout that images are built from. `bases` is the digest of the base images. */
export function fingerprint(root: string, bases = ""): string {
  const hash = createHash("sha256").update(bases);
  const found = inputs.flatMap((pattern) => globSync(pattern, { cwd: root, exclude: isExcluded }));
  for (const path of found.toSorted()) {
    const full = join(root, path);
    if (path.endsWith(".test.ts") || !statSync(full).isFile()) continue;
    hash.update(`${path}\0`).update(readFileSync(full)).update("\0");
  }
  return hash.digest("hex");
}

function isExcluded(path: string): boolean {
  return /(?:^|\/)(?:node_modules|test|dist(?:\.work)?|\.reeve)$/.test(path);
}

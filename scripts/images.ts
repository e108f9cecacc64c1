/**
 * Makes the images of this checkout: `node scripts/images.ts [--public] [--force]`. Without a registry: bases of what this
 * machine has, and the packages that are installed here. With `--public` from the public bases, packages from the registry of npm.
 * What is up to date is not made again; `--force` makes it nevertheless. The bill of materials of all npm packages in them is
 * written to `.images/sbom.cdx.json`. REEVE_IMAGE_PREFIX replaces `reeve` in all names.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { buildImage, inputsOf } from "./images/docker.ts";
import { imageNames } from "./images/image-names.ts";
import { fingerprint, machineFingerprint } from "./images/fingerprint.ts";
import { localBases } from "./images/local-bases.ts";
import { copyProductionTree } from "./images/production-tree.ts";

const root = join(import.meta.dirname, "..");
const isForced = process.argv.includes("--force");
const isPublic = process.argv.includes("--public");
const startedAt = performance.now();

try {
  if (isPublic) buildFromPublicBases();
  else buildFromThisMachine();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

function buildFromThisMachine(): void {
  const machine = machineFingerprint();
  for (const { name, make } of localBases) {
    if (!isForced && inputsOf(name) === machine) continue;
    make(machine);
    say(`${name} made`);
  }
  const inputs = fingerprint(root, machine);
  const wanted = [
    { name: imageNames.services, base: imageNames.runtimeBase },
    { name: imageNames.toolhost, base: imageNames.toolhostBase },
  ].filter(({ name }) => isForced || inputsOf(name) !== inputs);
  const scratch = mkdtempSync(join(tmpdir(), "reeve-images-"));
  // The bill of materials has the name of its folder.
  const folder = join(scratch, "reeve");
  try {
    if (wanted.length > 0) {
      copyProductionTree(folder);
      say("files and packages collected");
      mkdirSync(join(root, ".images"), { recursive: true });
      copyFileSync(join(folder, "sbom.cdx.json"), join(root, ".images/sbom.cdx.json"));
    }
    for (const { name, base } of wanted) {
      const bases = { NODE_IMAGE: imageNames.nodeBase, RUNTIME_IMAGE: base };
      buildImage(name, { context: folder, bases, isInstalling: false, inputs });
      say(`${name} made`);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  say(`images are up to date: ${imageNames.services} ${imageNames.toolhost} ${imageNames.nats}`);
}

function buildFromPublicBases(): void {
  const inputs = fingerprint(root);
  buildImage(imageNames.toolhostBase, {
    context: root,
    file: "deploy/images/toolhost-base.Dockerfile",
    bases: {},
    isInstalling: true,
    inputs,
  });
  say(`${imageNames.toolhostBase} made`);
  buildImage(imageNames.services, { context: root, bases: {}, isInstalling: true, inputs });
  say(`${imageNames.services} made`);
  const bases = { RUNTIME_IMAGE: imageNames.toolhostBase };
  buildImage(imageNames.toolhost, { context: root, bases, isInstalling: true, inputs });
  say(`${imageNames.toolhost} made`);
}

function say(what: string): void {
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  console.log(`${seconds.padStart(6)} s  ${what}`);
}

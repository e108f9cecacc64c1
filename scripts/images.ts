/**
 * Builds the images of this checkout: `node scripts/images.ts [--public] [--force]`. By default needs no registry: the bases
 * are built from files of this machine, and the programs from node_modules. With `--public` it uses the public
 * bases and the npm registry. Skips images that are up to date, unless `--force` is given. Writes the bill of materials of
 * their npm packages to `.images/sbom.cdx.json`. REEVE_IMAGE_PREFIX replaces `reeve` in all names.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { buildImage, inputsOf } from "./images/docker.ts";
import { fingerprint, machineFingerprint } from "./images/fingerprint.ts";
import { imageNames } from "./images/image-names.ts";
import { writeImageContent } from "./images/image-content.ts";
import { localBases } from "./images/local-bases.ts";
import { programsFolder } from "./programs/shipped-programs.ts";
import { billFile } from "./programs/third-party-packages.ts";

const root = join(import.meta.dirname, "..");
const isForced = process.argv.includes("--force");
const isPublic = process.argv.includes("--public");
const startedAt = performance.now();

try {
  if (isPublic) buildFromPublicBases();
  else await buildFromThisMachine();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function buildFromThisMachine(): Promise<void> {
  const machine = machineFingerprint();
  for (const { name, build } of localBases) {
    if (!isForced && inputsOf(name) === machine) continue;
    build(machine);
    report(`built ${name}`);
  }
  const inputs = fingerprint(root, machine);
  const outdated = [
    { name: imageNames.services, base: imageNames.runtimeBase },
    { name: imageNames.toolhost, base: imageNames.toolhostBase },
  ].filter(({ name }) => isForced || inputsOf(name) !== inputs);
  const scratch = mkdtempSync(join(tmpdir(), "reeve-images-"));
  const folder = join(scratch, "reeve");
  try {
    if (outdated.length > 0) {
      buildConsole();
      await writeImageContent(folder);
      report("bundled the programs");
      mkdirSync(join(root, ".images"), { recursive: true });
      copyFileSync(join(folder, programsFolder, billFile), join(root, ".images", billFile));
    }
    for (const { name, base } of outdated) {
      const bases = { NODE_IMAGE: imageNames.nodeBase, RUNTIME_IMAGE: base };
      buildImage(name, { context: folder, bases, hasNetwork: false, inputs });
      report(`built ${name}`);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  report(`images are up to date: ${imageNames.services} ${imageNames.toolhost} ${imageNames.nats}`);
}

function buildFromPublicBases(): void {
  const inputs = fingerprint(root);
  buildConsole();
  buildImage(imageNames.toolhostBase, {
    context: root,
    file: "deploy/images/toolhost-base.Dockerfile",
    bases: {},
    hasNetwork: true,
    inputs,
  });
  report(`built ${imageNames.toolhostBase}`);
  buildImage(imageNames.services, { context: root, bases: {}, hasNetwork: true, inputs });
  report(`built ${imageNames.services}`);
  const bases = { RUNTIME_IMAGE: imageNames.toolhostBase };
  buildImage(imageNames.toolhost, { context: root, bases, hasNetwork: true, inputs });
  report(`built ${imageNames.toolhost}`);
}

function buildConsole(): void {
  execFileSync(process.execPath, [join(root, "scripts/build-console.ts")], { stdio: "inherit" });
}

function report(event: string): void {
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  console.log(`${seconds.padStart(6)} s  ${event}`);
}

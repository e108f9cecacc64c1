/**
 * Packs every package of a release into `dist/release`: `npm run release`. With `--publish` it then publishes them, with the
 * credentials of the registries' own clients. Refuses packages whose versions differ, and a version without an entry in
 * CHANGELOG.md.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { packNpm, npmPackages } from "./release/pack-npm.ts";
import { missingProgram, packStep, run } from "./release/pack-step.ts";
import { releaseVersion } from "./release/release-version.ts";
import { sdkSteps } from "./release/sdk-steps.ts";

const root = join(import.meta.dirname, "..");
const output = join(root, "dist/release");

const { values, positionals } = parseArgs({
  options: { publish: { type: "boolean", default: false } },
  allowPositionals: true,
});
const version = releaseVersion(root);
const known = [...npmPackages, ...sdkSteps.map(({ name }) => name)];
const chosen = positionals.length === 0 ? known : positionals;
const unknown = chosen.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`no such package: ${unknown.join(", ")}; choose from: ${known.join(", ")}`);
  process.exit(2);
}

rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });
const publications: (() => void)[] = [];
for (const name of npmPackages.filter((each) => chosen.includes(each))) {
  const archive = await packNpm(root, name, output);
  console.log(`packed ${archive}`);
  publications.push(() => run(["npm", "publish", "--access", "public", archive], root));
}
const leftOut: string[] = [];
for (const step of sdkSteps.filter(({ name }) => chosen.includes(name))) {
  try {
    for (const archive of packStep(root, step, output)) console.log(`packed ${archive}`);
  } catch (error) {
    const program = missingProgram(error);
    if (program === undefined) throw error;
    leftOut.push(`${step.name} (${program} cannot be started)`);
  }
  for (const command of step.publish(version)) {
    publications.push(() => run(command, join(root, step.folder)));
  }
}
if (leftOut.length > 0) {
  console.error(`nothing is published; left out: ${leftOut.join(", ")}`);
  console.error("install these programs, or name the packages to pack: npm run release -- NAME …");
  process.exitCode = 1;
} else if (values.publish) for (const publish of publications) publish();
else console.log(`version ${version}; nothing is published without --publish`);

import { join } from "node:path";
import { compilePrograms } from "../../scripts/programs/compile-programs.ts";
import { shippedPrograms } from "../../scripts/programs/shipped-programs.ts";

const root = join(import.meta.dirname, "../..");
const place = "node_modules/.cache/reeve-bench-programs";
let compiled: Promise<string> | undefined;

/** Bundles the services as the images have them, the first time, and returns the folder. */
export function bundledServices(): Promise<string> {
  compiled ??= compile();
  return compiled;
}

async function compile(): Promise<string> {
  const folder = join(root, place);
  await compilePrograms({ programs: shippedPrograms, folder, place });
  return folder;
}

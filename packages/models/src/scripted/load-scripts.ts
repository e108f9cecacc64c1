import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { invalidFile } from "@reeve/platform/process/parse-yaml-file";
import type { Script } from "./script.ts";
import { parseScript } from "./script.ts";

/**
 * Reads each `.yaml`, `.yml`, and `.json` file of a folder as a script, in the order of the names. Throws one Failure with
 * the problems of all files.
 */
export async function loadScripts(folder: string, signal: AbortSignal): Promise<readonly Script[]> {
  const names = (await readdir(folder)).filter((name) => /\.(ya?ml|json)$/.test(name)).toSorted();
  const scripts: Script[] = [];
  const violations: Violation[] = [];
  for (const file of names.map((name) => join(folder, name))) {
    try {
      const script = parseScript(await readFile(file, { encoding: "utf8", signal }), file);
      const twin = scripts.find(({ name }) => name === script.name);
      if (twin !== undefined) violations.push(nameTaken(script, twin));
      scripts.push(script);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      violations.push(
        ...error.violations.map((violation) => ({
          ...violation,
          field: `${file}: ${violation.field}`,
        })),
      );
    }
  }
  if (violations.length > 0) throw invalidFile(folder, violations);
  return scripts;
}

function nameTaken({ name, file }: Script, twin: Script): Violation {
  return {
    field: `${file}: name`,
    description: `the name ${name} is already used by ${twin.file}; choose another`,
    reason: "DUPLICATE_NAME",
  };
}

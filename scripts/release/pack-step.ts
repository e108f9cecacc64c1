import { execFileSync } from "node:child_process";
import { copyFileSync, globSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import type { Step } from "./sdk-steps.ts";

/** Packs the client of a language, copies its archives into `output`, and returns their paths there. */
export function packStep(
  root: string,
  { folder, pack, archives }: Pick<Step, "folder" | "pack" | "archives">,
  output: string,
): readonly string[] {
  const cwd = join(root, folder);
  const found = () => globSync([...archives], { cwd });
  // Those of another version would be published too.
  for (const path of found()) rmSync(join(cwd, path));
  for (const command of pack) run(command, cwd);
  return found().map((path) => {
    const to = join(output, basename(path));
    copyFileSync(join(cwd, path), to);
    return to;
  });
}

/** Returns the program that could not be started, if that is the error of `run`: it is not installed, or not for this user. */
export function missingProgram(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || !("path" in error)) return undefined;
  const isMissing = error.code === "ENOENT" || error.code === "EACCES";
  return isMissing && typeof error.path === "string" ? error.path : undefined;
}

/** Runs a command, whose output is shown. Throws if it fails. */
export function run([program = "", ...args]: readonly string[], cwd: string): void {
  execFileSync(program, args, { cwd, stdio: ["ignore", "inherit", "inherit"] });
}

import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** The programs whose modules this process has compiled. A second time would block it while it measures. */
const compiled = new Set<string>();

/**
 * Compiles the modules of a program into a compile cache, as the build of the images does, and returns its folder. Without it, a
 * service also needs memory for the compiler that strips types. `args`: options of Node and the first file of the service; a cache
 * serves only the options of its writer.
 */
export function warmCompileCache(args: readonly string[]): string {
  const folder = join(tmpdir(), "reeve-bench-compile-cache");
  const program = args.join(" ");
  if (compiled.has(program)) return folder;
  // With a setting that no service accepts, it ends once all of its modules are loaded.
  const env = { ...process.env, NODE_COMPILE_CACHE: folder, REEVE_LOG_LEVEL: "none" };
  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8" });
  if (status !== 2) throw new Error(`${program} ended with ${status}, not with 2: ${stderr}`);
  compiled.add(program);
  return folder;
}

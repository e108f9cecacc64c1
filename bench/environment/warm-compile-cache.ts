import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

/**
 * Compiles the modules of a program into a compile cache, as the build of the images does, and returns its folder. Without it, a
 * service also needs memory for the compiler that strips types. `args`: options of Node and the first file of the service; a cache
 * serves only the options of its writer.
 */
export function warmCompileCache(args: readonly string[]): string {
  const folder = join(tmpdir(), "reeve-bench-compile-cache");
  // With a setting that no service accepts, it ends once all of its modules are loaded.
  const env = { ...process.env, NODE_COMPILE_CACHE: folder, REEVE_LOG_LEVEL: "none" };
  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8" });
  if (status !== 2)
    throw new Error(`${args.join(" ")} ended with ${status}, not with 2: ${stderr}`);
  return folder;
}

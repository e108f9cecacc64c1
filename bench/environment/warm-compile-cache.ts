import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";

const root = join(import.meta.dirname, "../..");
const services = ["gateway", "runtime", "toolhost", "approvals"];

/**
 * Compiles the modules of the services into a compile cache, as the build of the images does, and returns its folder. As there, the
 * first module of each service is not among them. `flags`: options of Node; a cache serves only those of its writer.
 */
export async function warmCompileCache(
  flags: readonly string[],
  environment: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<string> {
  const folder = join(tmpdir(), "reeve-bench-compile-cache");
  const modules = services.map((name) => join(root, `services/${name}/src/serve.ts`));
  const load = `await Promise.all(${JSON.stringify(modules)}.map((each) => import(each)));`;
  const program = `${load} (await import("node:module")).flushCompileCache(); process.exit();`;
  await promisify(execFile)(process.execPath, [...flags, "--input-type=module", "-e", program], {
    cwd: root,
    env: { ...process.env, ...environment, NODE_COMPILE_CACHE: folder },
    signal,
  });
  return folder;
}

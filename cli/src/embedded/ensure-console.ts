import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import type { Environment } from "@reeve/platform/config";
import { buildOnce } from "../files/build-once.ts";

const root = join(import.meta.dirname, "../../..");
const sources = join(root, "console");
const vite = join(root, "node_modules/vite/bin/vite.js");

/** The folder with the build of the console. */
export const consoleBuild: string = join(sources, "dist");

/** What a build depends on, relative to the root. */
const inputs = [
  "console/{index.html,package.json,vite.config.ts}",
  "console/{public,src}/**/*",
  "packages/contracts/{gen,src}/**/*.ts",
];

/** Whether browsers get the console from this installation. */
export function hasConsole(environment: Environment): boolean {
  const isOff = /^(?:false|0|no|off|n|disabled)$/i.test(environment["REEVE_CONSOLE"] ?? "");
  return !isOff && existsSync(join(environment["REEVE_CONSOLE_DIR"] || consoleBuild, "index.html"));
}

/**
 * Builds the console in a clone if there is no build of its sources. Needs no network. A console that cannot be built is reported and
 * does not keep the rest from starting.
 */
export async function ensureConsole(
  environment: Environment,
  note: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  if (environment["REEVE_CONSOLE_DIR"] || !isClone()) return;
  const problem = await buildConsole(() => note("building the console …\n"), signal);
  if (problem !== undefined) note(`the console is not available: ${problem}\n`);
}

/**
 * Builds the console of a clone, unless the last build is of the same sources. `onBuild` is called before it builds. Returns what went
 * wrong, or undefined.
 */
export async function buildConsole(
  onBuild: () => void,
  signal: AbortSignal,
): Promise<string | undefined> {
  const build = async (into: string) => {
    onBuild();
    if (!existsSync(vite)) return "vite is not installed; run npm ci";
    const { code, output } = await runVite(into, signal);
    return code === 0 ? undefined : `its build failed:\n${output}`;
  };
  try {
    return await buildOnce({ folder: consoleBuild, digest: digestOfSources, build }, signal);
  } catch (error) {
    signal.throwIfAborted();
    return `its build failed: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function runVite(
  folder: string,
  signal: AbortSignal,
): Promise<{ readonly code: number; readonly output: string }> {
  const { promise, resolve } = Promise.withResolvers<{ code: number; output: string }>();
  const args = [vite, "build", "--outDir", folder, "--emptyOutDir", "--logLevel", "error"];
  // Another mode, of the user's shell or of tests, would build the development version of libraries.
  const env = { ...process.env, NODE_ENV: "production" };
  const child = spawn(process.execPath, args, { cwd: sources, env, signal });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  }
  child.on("error", (error) => resolve({ code: 1, output: error.message }));
  child.on("close", (code) => resolve({ code: code ?? 1, output }));
  return promise;
}

/** Whether this is a clone: an installed package has only the build. */
function isClone(): boolean {
  return existsSync(join(sources, "vite.config.ts"));
}

/** Returns a digest of the names and contents of all that a build depends on. */
function digestOfSources(): string {
  const hash = createHash("sha256");
  for (const file of globSync(inputs, { cwd: root }).toSorted()) {
    const path = join(root, file);
    if (!statSync(path).isFile()) continue;
    const content = readFileSync(path);
    hash.update(`${file} ${content.byteLength}\n`).update(content);
  }
  return hash.digest("hex");
}

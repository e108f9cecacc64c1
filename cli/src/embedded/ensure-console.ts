import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import type { Environment } from "@reeve/platform/config";
import { buildOnce } from "../files/build-once.ts";
import { digestOfConsoleSources } from "./console-sources.ts";

const root = join(import.meta.dirname, "../../..");
const sources = join(root, "console");
const vite = join(root, "node_modules/vite/bin/vite.js");

/** The folder with the build of the console. */
export const consoleBuild: string = join(sources, "dist");

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
  const problem = await buildConsole((text) => note(`${text} …\n`), signal);
  if (problem !== undefined) note(`the console is not available: ${problem}\n`);
}

/**
 * Builds the console of a clone, unless the last build is of the same sources. Reports by `note` that it builds, or that it waits for another
 * process that does. Returns what went wrong, or undefined.
 */
export async function buildConsole(
  note: (text: string) => void,
  signal: AbortSignal,
): Promise<string | undefined> {
  const build = async (into: string) => {
    note("building the console");
    if (!existsSync(vite)) return "vite is not installed; run npm ci";
    const { code, output } = await runVite(into, signal);
    return code === 0 ? undefined : `its build failed:\n${output}`;
  };
  try {
    const digest = () => digestOfConsoleSources(root);
    const onWait = () => note("waiting for another process that builds the console");
    return await buildOnce({ folder: consoleBuild, digest, build, onWait }, signal);
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

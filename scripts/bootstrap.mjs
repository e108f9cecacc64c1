/**
 * Entry point of the npm scripts: `node scripts/bootstrap.mjs COMMAND [arguments]`. Installs what the command
 * needs, and runs it with the pinned Node. Itself runs on Node 20 or later, and imports no package.
 * Exits with the code of the command, or with 3 if something is missing that could not be installed.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { findNode } from "./bootstrap/node.mjs";
import { ensurePackages } from "./bootstrap/packages.mjs";
import { unexpectedEnd } from "./bootstrap/unexpected-end.mjs";
import { ensurePrograms, serverFolders } from "../cli/src/embedded/programs.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The script of each command, relative to the repository, and its first arguments. */
const commands = {
  demo: ["cli/bin/reeve.mjs", "demo"],
  start: ["cli/bin/reeve.mjs", "up"],
  test: ["scripts/test.ts"],
  nightly: ["scripts/test.ts", "--nightly"],
  bench: ["bench/main.ts"],
  chaos: ["test/chaos/main.ts"],
  cluster: ["test/chaos/main.ts", "--cluster"],
  check: ["scripts/check.ts"],
  "console:build": ["scripts/build-console.ts"],
  gen: ["scripts/generate.ts"],
  requirements: ["scripts/requirements.ts"],
  "sdk:gen": ["scripts/generate-sdks.ts"],
  release: ["scripts/release.ts"],
  "test:unit": ["node_modules/vitest/vitest.mjs", "run", "--project", "unit"],
  "test:system": ["node_modules/vitest/vitest.mjs", "run", "--project", "!unit"],
};
/** Commands that start no servers or sandboxes, and so need nothing but Node and the npm packages. */
const packagesOnly = new Set([
  "check",
  "console:build",
  "gen",
  "release",
  "requirements",
  "sdk:gen",
  "test:unit",
]);
/** Commands that the user runs in their own folder. */
const userCommands = new Set(["demo", "start"]);
const isInteractive = process.stdin.isTTY && process.stdout.isTTY;
/** The options of the demo that decide nothing. With no other one, it refuses before anything is installed. */
const demoOptions = new Set(["-o", "--output", "--listen", "--keep-data-dir", "--data-dir"]);
const compileCache = join(root, "node_modules/.cache/node");

const [name = "", ...args] = process.argv.slice(2);
if (!Object.hasOwn(commands, name)) {
  console.error(`usage: node scripts/bootstrap.mjs ${Object.keys(commands).join("|")} [arguments]`);
  process.exit(2);
}
if (process.platform === "win32") {
  console.error("Reeve needs Linux namespaces: on Windows, run it inside WSL 2 (wsl --install).");
  process.exit(3);
}
const isKnown = (word) => !word.startsWith("-") || demoOptions.has(word.split("=")[0]);
if (name === "demo" && !isInteractive && args.every(isKnown)) {
  console.error(
    "the demo asks for an approval, but there is no terminal; run: npm run demo -- --yes, or with --no",
  );
  process.exit(2);
}
const problem =
  (await ensurePackages(root)) ??
  (packagesOnly.has(name) ? undefined : await ensurePrograms(process.env));
if (problem !== undefined) {
  console.error(problem);
  process.exit(3);
}
const [script, ...first] = commands[name];
run(join(root, script), [...first, ...args]);

/** Runs a script and exits as it exits. Relative paths in `args` of user commands are relative to their folder. */
function run(script, args) {
  const node = findNode(root);
  if (!existsSync(script)) {
    console.error(`${script} does not exist`);
    process.exit(3);
  }
  const bin = join(root, "node_modules", ".bin");
  const path = [bin, ...(process.env.PATH ?? "").split(delimiter), ...serverFolders];
  const child = spawn(node, [script, ...args], {
    // npm runs scripts in the repository; INIT_CWD is the folder where the user called npm.
    cwd: userCommands.has(name) ? (process.env.INIT_CWD ?? process.cwd()) : root,
    // Services and commands start in half the time with modules that are already compiled.
    env: { NODE_COMPILE_CACHE: compileCache, ...process.env, PATH: path.join(delimiter) },
    stdio: "inherit",
  });
  // A terminal sends its signals to the child too; other senders signal this process only.
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  process.on("SIGINT", () => {
    if (!process.stdin.isTTY) child.kill("SIGINT");
  });
  child.on("error", (error) => {
    console.error(`${node} did not start: ${error.message}`);
    process.exit(3);
  });
  child.on("exit", (code, signal) => {
    const note = unexpectedEnd(name, signal);
    if (note !== undefined) console.error(note);
    process.exit(code ?? 128 + constants.signals[signal]);
  });
}

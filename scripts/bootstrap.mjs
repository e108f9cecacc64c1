/**
 * The door to everything in package.json: `node scripts/bootstrap.mjs demo|start|test|bench …`. Makes sure that what the
 * command needs is on the machine, and starts it with the pinned Node. Runs on any Node from 20 on and needs no package.
 * Exit code 3: something is missing that could not be installed; otherwise the exit code of the command.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { ensurePackages } from "./bootstrap/packages.mjs";
import { ensurePrograms, serverFolders } from "./bootstrap/programs.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** What each command runs. Paths are relative to the repository. */
const commands = {
  demo: ["cli/bin/reeve.mjs", "demo"],
  start: ["cli/bin/reeve.mjs", "up"],
  test: ["scripts/test.ts"],
  bench: ["bench/main.ts"],
};

const [name = "", ...args] = process.argv.slice(2);
if (!Object.hasOwn(commands, name)) {
  console.error(`usage: node scripts/bootstrap.mjs ${Object.keys(commands).join("|")} [arguments]`);
  process.exit(2);
}
if (process.platform === "win32") {
  console.error("Reeve needs Linux namespaces: on Windows, run it inside WSL 2 (wsl --install).");
  process.exit(3);
}
const problem = (await ensurePackages(root)) ?? (await ensurePrograms(process.env));
if (problem !== undefined) {
  console.error(problem);
  process.exit(3);
}
const [script, ...first] = commands[name];
run(join(root, script), [...first, ...args]);

/** Runs a script with the pinned Node, in the folder in which the user typed, and ends as it ends. */
function run(script, args) {
  const bin = join(root, "node_modules", ".bin");
  const node = join(bin, "node");
  if (!existsSync(script)) {
    console.error(`${script} does not exist`);
    process.exit(3);
  }
  const path = [bin, ...(process.env.PATH ?? "").split(delimiter), ...serverFolders];
  const child = spawn(node, [script, ...args], {
    // npm changes into the repository; what the user names is relative to where they were.
    cwd: name === "demo" || name === "start" ? (process.env.INIT_CWD ?? process.cwd()) : root,
    env: { ...process.env, PATH: path.join(delimiter) },
    stdio: "inherit",
  });
  // A terminal sends its signals to the child too; others send them to us alone.
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  process.on("SIGINT", () => {
    if (!process.stdin.isTTY) child.kill("SIGINT");
  });
  child.on("error", (error) => {
    console.error(`${node} could not be started: ${error.message}`);
    process.exit(3);
  });
  child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

import { spawn } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";

/** Where distributions install servers. Often only root's PATH contains these folders. */
export const serverFolders = ["/usr/sbin", "/usr/local/sbin"];

/** Programs that Reeve starts, with their packages, which have the same names in all distributions. */
const programs = [
  { name: "nats-server", package: "nats-server" },
  { name: "bwrap", package: "bubblewrap" },
  { name: "rg", package: "ripgrep" },
  // Only at this path: a Python in a home folder is not visible in a sandbox.
  { name: "python3", package: "python3", path: "/usr/bin/python3" },
];

const managers = {
  "apt-get": { install: "apt-get install -y --no-install-recommends" },
  dnf: { install: "dnf install -y" },
  apk: { install: "apk add" },
  brew: { install: "brew install" },
};

/**
 * Installs the programs that Reeve starts, unless they are installed already. Uses apt-get if that needs no password.
 * Returns a message with the missing programs and the command that installs them, or undefined.
 */
export async function ensurePrograms(environment) {
  const missing = missingPrograms(environment);
  if (missing.length === 0) return undefined;
  const instructions = howToInstall(environment);
  const elevate = managerOf(environment) === "apt-get" ? await elevation(environment) : undefined;
  if (elevate === undefined) return instructions;
  const packages = missing.map((program) => program.package);
  const names = missing.map(({ name }) => name).join(", ");
  console.error(`installing ${packages.join(", ")} (missing: ${names}) …`);
  const installed = await installWithApt(elevate, packages, environment);
  if (!installed || missingPrograms(environment).length > 0) return instructions;
  return undefined;
}

/** Returns a message with the missing programs and the command that installs them, or undefined if none is missing. */
export function howToInstall(environment) {
  const missing = missingPrograms(environment);
  if (missing.length === 0) return undefined;
  const names = missing.map(({ name }) => name).join(", ");
  const packages = missing.map((program) => program.package);
  return renderInstructions(managerOf(environment), packages, names);
}

function managerOf(environment) {
  return Object.keys(managers).find((name) => find(name, environment) !== undefined);
}

function missingPrograms(environment) {
  return programs.filter(({ name, path }) =>
    path === undefined ? find(name, environment) === undefined : !isExecutable(path),
  );
}

function renderInstructions(manager, packages, names) {
  if (process.platform !== "linux") {
    return `missing: ${names}. Code runs in Linux namespaces: run Reeve on Linux, or inside a Linux virtual machine.`;
  }
  if (manager === undefined) {
    return `missing: ${names}. Install these packages with the package manager of this system: ${packages.join(" ")}`;
  }
  const sudo = process.getuid?.() === 0 || manager === "brew" ? "" : "sudo ";
  const update = manager === "apt-get" ? `${sudo}apt-get update && ` : "";
  return `missing: ${names}. Run: ${update}${sudo}${managers[manager].install} ${packages.join(" ")}`;
}

/** Returns the command prefix that runs a program as root without asking for a password, or undefined if there is none. */
async function elevation(environment) {
  if (environment.REEVE_BOOTSTRAP_NO_INSTALL === "1") return undefined;
  if (process.getuid?.() === 0) return [];
  if (find("sudo", environment) === undefined) return undefined;
  return (await run(["sudo", "-n", "true"], environment, "ignore")) === 0
    ? ["sudo", "-n"]
    : undefined;
}

async function installWithApt(elevate, packages, environment) {
  const apt = [...elevate, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"];
  if ((await run([...apt, "update", "-q"], environment, "show")) !== 0) return false;
  const install = [...apt, "install", "-y", "--no-install-recommends", ...packages];
  if ((await run(install, environment, "show")) !== 0) return false;
  if (packages.includes("nats-server") && existsSync("/run/systemd/system")) {
    // Under systemd the package starts a server on the default port. Nobody relies on it: it was not installed before.
    const stop = ["systemctl", "disable", "--now", "nats-server.service"];
    await run([...elevate, ...stop], environment, "show");
  }
  return true;
}

function run([command, ...args], environment, output) {
  const stdio = output === "show" ? process.stderr : "ignore";
  return new Promise((resolve) => {
    const child = spawn(command, args, { env: environment, stdio: ["ignore", stdio, stdio] });
    child.on("error", () => resolve(127));
    child.on("exit", (code) => resolve(code ?? 1));
  });
}

function find(name, environment) {
  // Tests set REEVE_BOOTSTRAP_PATH to search only its folders.
  const only = environment.REEVE_BOOTSTRAP_PATH;
  const folders = (only ?? environment.PATH ?? "").split(delimiter);
  if (only === undefined) folders.push(...serverFolders);
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

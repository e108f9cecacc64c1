import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { cachesFolder } from "../../system/support/language-providers.ts";

const project = join(import.meta.dirname, "../../../sdk/python");
const buildMs = 240_000;

/** Build artifacts must not remain beside the sources, so pip installs a copy. */
const install = `
[ -e "$1/.done" ] && exit
rm -rf "$1"
python3 -m venv --copies "$1"
cp -r "$2" "$1/source"
"$1/bin/python" -m pip install -q --disable-pip-version-check --no-compile "$1/source"
mkdir "$1/.done"`;

/**
 * Installs the package of the Python client with pip into a virtual environment, once for the contents of its files, and
 * returns the interpreter there. Suites in other processes wait for an installation in progress. Throws an `ENOENT` of
 * `python3` if the machine has none.
 */
export async function pythonWithClient(): Promise<string> {
  const run = promisify(execFile);
  await run("python3", ["--version"]);
  const hash = createHash("sha256");
  for (const file of packageFiles()) hash.update(readFileSync(file));
  mkdirSync(cachesFolder, { recursive: true });
  const folder = join(cachesFolder, `client-python-${hash.digest("hex").slice(0, 16)}`);
  const command = ["bash", "-euc", install, "install", folder, project];
  await run("flock", [`${folder}.lock`, ...command], { timeout: buildMs });
  return join(folder, "bin/python");
}

function packageFiles(): readonly string[] {
  return readdirSync(project, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:py|pyi|toml)$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name))
    .toSorted();
}

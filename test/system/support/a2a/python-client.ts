import { execFile } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { build, cached, prepared } from "../language-providers.ts";

const run = promisify(execFile);
const requirements = join(import.meta.dirname, "requirements.txt");
const program = join(import.meta.dirname, "python_client.py");
const driveMs = 120_000;

/** Drives the agent at an address with the A2A project's client for Python, and returns what that client observed. */
export type PythonClient = (address: string, token: string) => Promise<unknown>;

/** Installs the client into a virtual environment in a cache folder. */
export async function preparePythonClient() {
  return await prepared(async () => {
    const folder = await cached("a2a-python", [requirements], async (folder) => {
      const env = { ...process.env, PIP_DISABLE_PIP_VERSION_CHECK: "1" };
      await build("python3", ["-m", "venv", "--copies", folder], { env });
      const install = [
        "-m",
        "pip",
        "install",
        "-q",
        "--no-compile",
        "--no-deps",
        "-r",
        requirements,
      ];
      await build(join(folder, "bin/python"), install, { env });
    });
    const drive: PythonClient = async (address, token) => {
      const env = { PATH: process.env["PATH"], PYTHONDONTWRITEBYTECODE: "1" };
      const args = [program, address, token];
      const options = { env, timeout: driveMs };
      const { stdout } = await run(join(folder, "bin/python"), args, options);
      return JSON.parse(stdout);
    };
    return { drive };
  });
}

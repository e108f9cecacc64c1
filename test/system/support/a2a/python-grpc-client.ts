import { execFile } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { build, cached, prepared } from "../language-providers.ts";

const run = promisify(execFile);
const requirements = join(import.meta.dirname, "requirements-grpc.txt");
const program = join(import.meta.dirname, "python_grpc_client.py");
const driveMs = 120_000;

/** Drives the agent at an address over gRPC with the A2A project's client for Python, and returns what that client observed. */
export type PythonGrpcClient = (address: string, token: string) => Promise<unknown>;

/** Installs the client into a virtual environment in a cache folder. */
export async function preparePythonGrpcClient() {
  return await prepared(async () => {
    const folder = await cached("a2a-python-grpc", [requirements], async (to) => {
      const env = { ...process.env, PIP_DISABLE_PIP_VERSION_CHECK: "1" };
      await build("python3", ["-m", "venv", "--copies", to], { env });
      const install = ["install", "-q", "--no-compile", "--no-deps", "-r", requirements];
      await build(join(to, "bin/python"), ["-m", "pip", ...install], { env });
    });
    const drive: PythonGrpcClient = async (address, token) => {
      const env = { PATH: process.env["PATH"], PYTHONDONTWRITEBYTECODE: "1" };
      const options = { env, timeout: driveMs };
      const { stdout } = await run(join(folder, "bin/python"), [program, address, token], options);
      return JSON.parse(stdout);
    };
    return { drive };
  });
}

import type { ChildProcess } from "node:child_process";
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../../..");
const examples = join(root, "examples");
const protos = join(root, "proto");
const buildMs = 240_000;

/** Where artifacts for other languages are cached between test runs. */
export const cachesFolder = join(
  process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"),
  "reeve",
);

/** How to start an example provider, or why that is not possible. */
export type Prepared =
  | { readonly kind: "ready"; readonly command: readonly string[]; readonly env: NodeJS.ProcessEnv }
  | { readonly kind: "missing"; readonly reason: string };

/** Whether the tests of other languages are enabled. */
export const isAskedFor = process.env["REEVE_LANGUAGES"] === "all";

/** An example in Python, and the contract that it implements. */
interface PythonExample {
  readonly folder: string;
  readonly program: string;
  readonly proto: string;
}

const toolProvider: PythonExample = {
  folder: "tool-provider-python",
  program: "provider.py",
  proto: "reeve/tool/v1/tool_provider.proto",
};

/** Prepares the plugin in Python, as `preparePython` does. */
export async function preparePythonPlugin(): Promise<Prepared> {
  return await preparePython({
    folder: "plugin-python",
    program: "plugin.py",
    proto: "reeve/plugin/v1/plugin.proto",
  });
}

/** Prepares an example in Python, by default the tool provider: a virtual environment with generated code, in a cache folder. */
export async function preparePython({
  folder: example,
  program,
  proto,
}: PythonExample = toolProvider): Promise<Prepared> {
  return await prepared(async () => {
    const source = join(examples, example);
    const venv = await cached(
      "python",
      [join(source, "requirements.txt"), join(protos, proto)],
      async (folder) => {
        const env = { ...process.env, PIP_DISABLE_PIP_VERSION_CHECK: "1" };
        await build("python3", ["-m", "venv", "--copies", folder], { env });
        const python = join(folder, "bin/python");
        const requirements = join(source, "requirements.txt");
        await build(python, ["-m", "pip", "install", "-q", "-r", requirements], { env });
        const generated = join(folder, "gen");
        mkdirSync(generated);
        const out = [`--python_out=${generated}`, `--grpc_python_out=${generated}`];
        await build(python, ["-m", "grpc_tools.protoc", "-I", protos, ...out, proto]);
      },
    );
    const env = { PYTHONPATH: join(venv, "gen"), PYTHONDONTWRITEBYTECODE: "1" };
    return { command: [join(venv, "bin/python"), join(source, program)], env };
  });
}

/** Builds the Go provider into a cache folder. */
export async function prepareGo(): Promise<Prepared> {
  return await prepared(async () => {
    const source = join(examples, "tool-provider-go");
    const files = ["main.go", "go.sum", "toolprovider/tool_provider.pb.go"];
    const folder = await cached(
      "go",
      files.map((file) => join(source, file)),
      async (to) => {
        mkdirSync(to, { recursive: true });
        const env = { ...process.env, CGO_ENABLED: "0", GOFLAGS: "-mod=readonly" };
        const args = ["build", "-trimpath", "-o", join(to, "provider"), "."];
        await build("go", args, { cwd: source, env });
      },
    );
    return { command: [join(folder, "provider")], env: {} };
  });
}

/** An example provider or plugin as a process. It requires a token. */
export class LanguageProvider implements AsyncDisposable {
  readonly address: string;
  readonly #child: ChildProcess;

  private constructor(address: string, child: ChildProcess) {
    this.address = address;
    this.#child = child;
  }

  static async start(
    { command: [program = "", ...args], env }: Extract<Prepared, { kind: "ready" }>,
    token: string,
    listen = "127.0.0.1:0",
  ): Promise<LanguageProvider> {
    const tokens = { PROVIDER_TOKEN: token, PLUGIN_TOKEN: token };
    const child = spawn(program, [...args, listen], {
      env: { ...env, PATH: process.env["PATH"], ...tokens },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    createInterface({ input: child.stdout }).on("line", (line) => {
      const [, address] = /^listening on (.+)$/.exec(line) ?? [];
      if (address !== undefined) resolve(address);
    });
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`${program} ended with ${code}`)));
    return new LanguageProvider(await promise, child);
  }

  /** Kills it, as a power failure would. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
  }
}

/** Skips a language if its toolchain is not installed. A failing build is an error. */
export async function prepared<Made>(
  prepare: () => Promise<Made>,
  isEnabled = isAskedFor,
): Promise<(Made & { readonly kind: "ready" }) | Extract<Prepared, { kind: "missing" }>> {
  if (!isEnabled) return { kind: "missing", reason: "REEVE_LANGUAGES is not all" };
  try {
    return { ...(await prepare()), kind: "ready" };
  } catch (error) {
    if (!isMissingProgram(error)) throw error;
    return { kind: "missing", reason: error.message };
  }
}

function isMissingProgram(error: unknown): error is Error {
  if (!(error instanceof Error) || !("code" in error) || error.code !== "ENOENT") return false;
  // The program is missing from the PATH; a file that a build lacks has a path with a slash.
  return "path" in error && typeof error.path === "string" && !error.path.includes("/");
}

/** Returns a folder that is built once for the contents of some files, completely or not at all. */
export async function cached(
  name: string,
  files: readonly string[],
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const hash = createHash("sha256");
  for (const file of files) hash.update(readFileSync(file));
  const folder = join(cachesFolder, `${name}-${hash.digest("hex").slice(0, 16)}`);
  const done = join(folder, ".done");
  if (existsSync(done)) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(cachesFolder, { recursive: true });
  await make(folder);
  mkdirSync(done);
  return folder;
}

/** Runs a build command. Throws with its error output if it fails. */
export async function build(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<void> {
  await run(program, args, { ...options, timeout: buildMs });
}

/**
 * Generates the contract code of the clients in `sdk/`: `npm run sdk:gen [-- LANGUAGE…]`, for all languages by default.
 * With `--check` it changes nothing, and fails if the committed code is out of date. Each language needs only its own
 * toolchain; the generators come from the registry of the language, in pinned versions, into a cache folder. The TypeScript
 * client uses `packages/contracts` and needs no generated code (see `build-client.ts`).
 */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { clientContracts, serverOnly } from "./client-contracts.ts";

interface GenerateInput {
  /** Path of the contracts with their comments: an encoded FileDescriptorSet. */
  readonly contracts: string;
  /** An empty folder to generate into. */
  readonly out: string;
}

interface Language {
  /** The folder in the repository that contains generated code only. */
  readonly folder: string;
  /** The subfolder of the output that is kept. Default: all of it. */
  readonly part?: string;
  generate(input: GenerateInput): void;
}

const caches = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "reeve");
const grpcioTools = "grpcio-tools==1.85.1";
const goPlugins = [
  "google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12",
  "google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2",
];

const languages: Readonly<Record<string, Language>> = {
  python: {
    folder: "sdk/python/src/reeve",
    part: "reeve",
    generate: ({ contracts, out }) => {
      const venv = join(caches, `gen-python-${grpcioTools.replace("==", "-")}`);
      const python = join(venv, "bin/python");
      if (!existsSync(join(venv, "done"))) {
        run("python3", ["-m", "venv", venv]);
        run(python, ["-m", "pip", "install", "-q", grpcioTools]);
        writeFileSync(join(venv, "done"), "");
      }
      const outputs = ["python", "pyi", "grpc_python"].map((kind) => `--${kind}_out=${out}`);
      const args = ["-m", "grpc_tools.protoc", `--descriptor_set_in=${contracts}`, ...outputs];
      run(python, [...args, ...ownFiles()]);
    },
  },
  go: {
    folder: "sdk/go/gen",
    generate: ({ contracts, out }) => {
      const bin = join(caches, "gen-go");
      const env = { ...process.env, GOBIN: bin, GOFLAGS: "" };
      for (const plugin of goPlugins) run("go", ["install", plugin], { env });
      const opt = ["module=reeve.dev/sdk/go/gen"];
      const plugins = ["protoc-gen-go", "protoc-gen-go-grpc"];
      bufGenerate(
        plugins.map((name) => ({ local: join(bin, name), out, opt })),
        ["--path", "reeve", contracts],
      );
    },
  },
  rust: {
    folder: "sdk/rust/src/gen",
    generate: ({ contracts, out }) => {
      const env = { ...process.env, CARGO_TARGET_DIR: join(caches, "gen-rust") };
      const manifest = "sdk/rust/codegen/Cargo.toml";
      run("cargo", ["run", "-q", "--locked", "--manifest-path", manifest, "--", contracts, out], {
        env,
      });
    },
  },
  java: {
    // The Maven build of the client generates the code, so only the contracts are kept.
    folder: "sdk/java/src/main/contracts",
    generate: ({ out }) =>
      writeFileSync(join(out, "reeve.binpb"), clientContracts({ comments: false })),
  },
};

const { values: options, positionals } = parseArgs({
  options: { check: { type: "boolean" } },
  allowPositionals: true,
});
const work = mkdtempSync(join(tmpdir(), "reeve-sdk-gen-"));
try {
  const contracts = join(work, "contracts.binpb");
  writeFileSync(contracts, clientContracts({ comments: true }));
  for (const name of positionals.length > 0 ? positionals : Object.keys(languages)) {
    const language = languages[name];
    if (language === undefined)
      throw new Error(`no client in ${name}; known: ${Object.keys(languages).join(", ")}`);
    const out = join(work, name);
    mkdirSync(out);
    language.generate({ contracts, out });
    const fresh = join(out, language.part ?? "");
    if (options.check === true) compare(language.folder, fresh);
    else replace(language.folder, fresh);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}

function compare(folder: string, fresh: string): void {
  try {
    run("diff", ["-r", folder, fresh]);
  } catch {
    console.error(`${folder} is out of date with the contracts; run: npm run sdk:gen`);
    process.exitCode = 1;
  }
}

function replace(folder: string, fresh: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  cpSync(fresh, folder, { recursive: true });
}

/** Returns the names of our own files in the descriptors. */
function ownFiles(): readonly string[] {
  return readdirSync("proto/reeve", { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".proto") && !name.startsWith("bus/"))
    .map((name) => `reeve/${name}`)
    .filter((name) => !serverOnly.has(name))
    .toSorted();
}

function bufGenerate(plugins: readonly object[], input: readonly string[]): void {
  run("buf", ["generate", "--template", JSON.stringify({ version: "v2", plugins }), ...input]);
}

function run(
  program: string,
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv } = {},
): void {
  execFileSync(program, args, { stdio: "inherit", ...options });
}

/**
 * Builds the package `@reeve/client` as it is published, into `sdk/typescript/dist`: `npm run build` in `sdk/typescript`.
 *
 * The workspace runs the client from its sources, which import the contracts from `@reeve/contracts`. A published package
 * cannot: Node strips no types below node_modules, and `@reeve/contracts` is private. The build therefore compiles the
 * sources to JavaScript, and adds the contracts as clients need them, without the rules of validation.
 */
import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import process from "node:process";
import { clientContracts } from "./client-contracts.ts";

// npm runs this script in the folder of the package.
process.chdir(join(import.meta.dirname, ".."));
const client = "sdk/typescript";
const work = join(client, "dist.work");
const dist = join(client, "dist");

const compilation = {
  extends: "../../../tsconfig.json",
  compilerOptions: {
    noEmit: false,
    declaration: true,
    rewriteRelativeImportExtensions: true,
    rootDir: ".",
    outDir: "../dist",
    paths: { "#contracts/*": ["./contracts/*.ts"] },
  },
  include: ["src", "contracts", "gen"],
};

for (const folder of [work, dist]) rmSync(folder, { recursive: true, force: true });
mkdirSync(join(work, "contracts"), { recursive: true });
try {
  generateContracts();
  cpSync(join(client, "src"), join(work, "src"), {
    recursive: true,
    filter: (path) => !path.endsWith(".test.ts"),
  });
  writeFileSync(join(work, "tsconfig.json"), JSON.stringify(compilation));
  run("tsc", "--project", work);
  writeFileSync(join(dist, "package.json"), `${JSON.stringify(manifest(), undefined, 2)}\n`);
  cpSync(join(client, "README.md"), join(dist, "README.md"));
  cpSync("LICENSE", join(dist, "LICENSE"));
} finally {
  rmSync(work, { recursive: true, force: true });
}

function generateContracts(): void {
  for (const name of importedContracts()) copyContract(name);
  const descriptors = join(work, "contracts.binpb");
  writeFileSync(descriptors, clientContracts({ comments: true }));
  const opt = ["target=ts", "import_extension=ts", "erasable_syntax=true"];
  const plugins = [{ local: "protoc-gen-es", out: join(work, "gen"), opt }];
  const template = JSON.stringify({ version: "v2", plugins });
  run("buf", "generate", "--template", template, "--path", "reeve", descriptors);
  run(
    "buf",
    "generate",
    "--template",
    template,
    "packages/contracts/proto",
    "--path",
    "packages/contracts/proto/google",
  );
}

/** Copies the file that `@reeve/contracts` exports under a name to the place that has this name in the package. */
function copyContract(name: string): void {
  const { exports } = JSON.parse(readFileSync("packages/contracts/package.json", "utf8")) as {
    readonly exports: Readonly<Record<string, string>>;
  };
  const file = exports[`./${name}`];
  if (file === undefined) throw new Error(`@reeve/contracts exports no "./${name}"`);
  const target = join(work, "contracts", `${name}.ts`);
  const gen = relative(dirname(target), join(work, "gen"));
  const text = readFileSync(join("packages/contracts", file), "utf8");
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text.replaceAll(/"(?:\.\.\/)+gen\//g, `"${gen}/`));
}

/** Returns the names under which `@reeve/contracts` exports the files that the client imports as `#contracts/NAME`. */
function importedContracts(): ReadonlySet<string> {
  const files = globSync(join(client, "src/**/*.ts"), { exclude: ["**/*.test.ts"] });
  const imports = files.flatMap((file) => [
    ...readFileSync(file, "utf8").matchAll(/from "#contracts\/([^"]+)"/g),
  ]);
  return new Set(imports.map(([, name = ""]) => name));
}

/** The manifest of the published package: that of the workspace, with the contracts inside the package. */
function manifest(): object {
  const text = readFileSync(join(client, "package.json"), "utf8");
  const { private: _, scripts: __, dependencies, ...rest } = JSON.parse(text) as Manifest;
  const { "@reeve/contracts": ___, ...published } = dependencies;
  return {
    ...rest,
    exports: {
      ".": compiled("./src/index"),
      "./contracts/*": compiled("./contracts/*"),
    },
    imports: { "#contracts/*": compiled("./contracts/*") },
    dependencies: published,
  };
}

function compiled(path: string): object {
  return { types: `${path}.d.ts`, default: `${path}.js` };
}

interface Manifest {
  readonly private?: boolean;
  readonly scripts?: object;
  readonly dependencies: Readonly<Record<string, string>>;
}

function run(program: string, ...args: readonly string[]): void {
  execFileSync(program, args, { stdio: "inherit" });
}

import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { build, cached, cachesFolder, prepared } from "../../system/support/language-providers.ts";
import { pythonWithClient } from "./python-client.ts";

const root = join(import.meta.dirname, "../../..");
const sdk = join(root, "sdk");
const drivers = join(root, "test/clients/drivers");

/** A program and its environment. */
export interface Command {
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** The client of a language: a driver that executes the tests' operations, and the unchanged quickstart. */
export interface PreparedClient {
  readonly driver: Command;
  readonly quickstart: Command;
  /** The quickstart's file, relative to the root. */
  readonly source: string;
}

export type Toolchain =
  | { readonly kind: "ready"; readonly client: PreparedClient }
  | { readonly kind: "missing"; readonly reason: string };

/** Installs the client's published package into an empty folder. Always available. */
export async function prepareTypescript(): Promise<Toolchain & AsyncDisposable> {
  const folder = mkdtempSync(join(tmpdir(), "reeve-client-"));
  const env = { ...process.env, PATH: `${join(root, "node_modules/.bin")}:${process.env["PATH"]}` };
  const cwd = join(sdk, "typescript");
  await build("npm", ["run", "--silent", "build"], { cwd, env });
  await build("npm", ["pack", "./dist", "--silent", "--pack-destination", folder], { cwd, env });
  const archive = readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "";
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
  const quiet = ["--silent", "--no-audit", "--no-fund", "--prefer-offline"];
  await build("npm", ["install", ...quiet, join(folder, archive)], { cwd: folder, env });
  cpSync(join(drivers, "driver.mjs"), join(folder, "driver.mjs"));
  const source = "sdk/typescript/quickstart.mjs";
  cpSync(join(root, source), join(folder, "quickstart.mjs"));
  const node = (file: string) => ({ command: [process.execPath, join(folder, file)], env: {} });
  return {
    kind: "ready",
    client: { driver: node("driver.mjs"), quickstart: node("quickstart.mjs"), source },
    [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Uses the package in the virtual environment of its tests. */
export async function preparePython(): Promise<Toolchain> {
  return await toolchain(async () => {
    const interpreter = await pythonWithClient();
    const env = { PYTHONDONTWRITEBYTECODE: "1" };
    const python = (file: string) => ({ command: [interpreter, file], env });
    const source = "sdk/python/quickstart.py";
    return {
      driver: python(join(drivers, "python/driver.py")),
      quickstart: python(join(root, source)),
      source,
    };
  });
}

/** Builds with the go command, which has its own caches. */
export async function prepareGo(): Promise<Toolchain> {
  return await toolchain(async () => {
    const folder = outputFolder("client-go");
    const env = { ...process.env, CGO_ENABLED: "0", GOFLAGS: "-mod=readonly", GOWORK: "off" };
    const args = ["build", "-o", folder];
    await build("go", [...args, "./examples/quickstart"], { cwd: join(sdk, "go"), env });
    await build("go", [...args, "."], { cwd: join(drivers, "go"), env });
    return {
      driver: { command: [join(folder, "driver")], env: {} },
      quickstart: { command: [join(folder, "quickstart")], env: {} },
      source: "sdk/go/examples/quickstart/main.go",
    };
  });
}

/** Builds with cargo, without optimization, into a cache folder. */
export async function prepareRust(): Promise<Toolchain> {
  return await toolchain(async () => {
    const folder = outputFolder("client-rust");
    const env = { ...process.env, CARGO_TARGET_DIR: folder, CARGO_PROFILE_DEV_DEBUG: "0" };
    const manifest = join(sdk, "rust/Cargo.toml");
    const args = ["build", "-q", "--locked", "--manifest-path", manifest, "--examples"];
    await build("cargo", args, { env });
    const example = (name: string) => ({
      command: [join(folder, "debug/examples", name)],
      env: {},
    });
    return {
      driver: example("driver"),
      quickstart: example("quickstart"),
      source: "sdk/rust/examples/quickstart.rs",
    };
  });
}

/** Makes a driver end at once, with the classes of its connection loaded. */
const withoutServer = {
  ...process.env,
  REEVE_URL: "http://127.0.0.1:9",
  REEVE_TOKEN: "",
  REEVE_CA: "",
  REEVE_REQUEST_MS: "300",
  REEVE_IDLE_TIMEOUT_MS: "300",
  REEVE_RECONNECT_TIMEOUT_MS: "300",
};

/** Options of Java for processes that end before optimized code would pay off. */
const shortLived = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

/** Options that start a program in half of the processor time, with the classes that an earlier process has loaded. */
function javaOptions(folder: string, archive: "ArchiveClassesAtExit" | "SharedArchiveFile") {
  const file = `-XX:${archive}=${join(folder, "classes.jsa")}`;
  return [...shortLived, file, "-cp", join(folder, "lib/*")];
}

/** Builds with Maven. Driver and quickstart are compiled separately, as a user's program is. */
export async function prepareJava(): Promise<Toolchain> {
  return await toolchain(async () => {
    const project = join(sdk, "java");
    const files = [
      join(project, "pom.xml"),
      ...filesBelow(join(project, "src")),
      join(project, "Quickstart.java"),
      join(drivers, "java/Driver.java"),
    ];
    const folder = await cached("client-java-programs", files, async (folder) => {
      const copy = join(folder, "source");
      mkdirSync(copy, { recursive: true });
      cpSync(join(project, "pom.xml"), join(copy, "pom.xml"));
      cpSync(join(project, "src"), join(copy, "src"), { recursive: true });
      const goals = [
        "package",
        "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies",
      ];
      const options = ["-q", "-B", "-DincludeScope=runtime", `-DoutputDirectory=${folder}/lib`];
      const env = { ...process.env, MAVEN_OPTS: shortLived.join(" ") };
      await build("mvn", [...options, ...goals], { cwd: copy, env });
      cpSync(join(copy, "target/reeve-client-0.1.0.jar"), join(folder, "lib/reeve-client.jar"));
      const sources = [join(project, "Quickstart.java"), join(drivers, "java/Driver.java")];
      const [library, classes] = [join(folder, "lib"), join(folder, "classes")];
      await build("javac", ["-cp", `${library}/*`, "-d", classes, ...sources]);
      // Only classes of archives can be shared between processes.
      await build("jar", ["--create", "--file", `${library}/programs.jar`, "-C", classes, "."]);
      const java = [...javaOptions(folder, "ArchiveClassesAtExit"), "Driver", "cancel", "run"];
      await build("java", java, { env: withoutServer });
    });
    const java = (name: string) => ({
      command: ["java", ...javaOptions(folder, "SharedArchiveFile"), name],
      env: {},
    });
    return {
      driver: java("Driver"),
      quickstart: java("Quickstart"),
      source: "sdk/java/Quickstart.java",
    };
  });
}

async function toolchain(prepare: () => Promise<PreparedClient>): Promise<Toolchain> {
  return await prepared(async () => ({ client: await prepare() }));
}

function outputFolder(name: string): string {
  const folder = join(cachesFolder, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .toSorted();
}

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** The result of a demo and the files and processes that it left. */
export interface DemoOutcome {
  readonly code: number;
  readonly said: string;
  /** The text of the report; undefined if there is none. */
  readonly report: string | undefined;
  /** Processes that the demo started and that still run. */
  readonly left: readonly string[];
}

const bootstrap = join(import.meta.dirname, "../../../scripts/bootstrap.mjs");

/**
 * Runs the demo as `npm run demo` does, in a new folder that contains `files`. All its processes have a mark in their
 * environment, by which the test finds the processes that are left.
 */
export async function playDemo(
  args: readonly string[],
  files: Readonly<Record<string, string | Uint8Array>> = {},
): Promise<DemoOutcome> {
  const folder = mkdtempSync(join(tmpdir(), "reeve-demo-test-"));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  const mark = randomUUID();
  const environment = withoutModels({
    ...process.env,
    INIT_CWD: folder,
    REEVE_TEST_MARK: mark,
    REEVE_SANDBOX: "bubblewrap",
  });
  const child = spawn(process.execPath, [bootstrap, "demo", ...args], {
    cwd: folder,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
  }
  const { promise, resolve } = Promise.withResolvers<number>();
  child.on("close", (code) => resolve(code ?? -1));
  const code = await promise;
  return { code, said, report: readIfThere(join(folder, "report.md")), left: marked(mark) };
}

/** The demo must play its script, even if the machine has model keys. */
function withoutModels(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const of = /^(OPENAI_|ANTHROPIC_|REEVE_MODELS$|REEVE_SCRIPTS$|REEVE_DATA_DIR$)/;
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !of.test(name)));
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function marked(mark: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => readIfThere(`/proc/${pid}/environ`)?.includes(mark) === true)
    .map((pid) => `${pid} ${(readIfThere(`/proc/${pid}/cmdline`) ?? "").replaceAll("\0", " ")}`);
}

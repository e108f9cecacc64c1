import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import type { ComposeProject } from "./compose.ts";

const root = join(import.meta.dirname, "../../..");

export interface Quickstart {
  /** The client that it demonstrates. */
  readonly name: string;
  /** The page that contains it, relative to the root. */
  readonly page: string;
  /** A line of the page; the quickstart is the next code block after it. */
  readonly after: string;
  /** Commands that install its requirements into a separate folder. */
  install?(folder: string): string;
  /** The command that receives the code block as its last argument. */
  interpreter(folder: string): readonly [string, ...string[]];
  /** Its expected output. */
  readonly prints: RegExp;
}

const bash = ["bash", "-euo", "pipefail", "-c"] as const;

/** The quickstarts in the documentation that users copy. */
export const quickstarts: readonly Quickstart[] = [
  {
    name: "curl",
    page: "docs/clients.md",
    after: "With `curl`, over the Connect protocol:",
    interpreter: () => bash,
    prints: /"runId":\s*"run_[a-z0-9]+"/,
  },
  {
    name: "Python",
    page: "docs/clients.md",
    after: "### Python",
    install: (folder) =>
      `python3 -m venv ${folder}/venv && ${folder}/venv/bin/pip install --quiet ./sdk/python`,
    interpreter: (folder) => [join(folder, "venv/bin/python"), "-c"],
    prints: /RUN_STATUS_COMPLETED/,
  },
];

/** Runs the unchanged code with a project's address and token. Returns its output. */
export async function follow(
  { page, after, install, interpreter }: Quickstart,
  { url, dataDir, token }: ComposeProject,
): Promise<string> {
  const code = blockAfter(readFileSync(join(root, page), "utf8"), after)
    .replaceAll("http://127.0.0.1:4680", url)
    .replaceAll("127.0.0.1:4680", url.replace("http://", ""))
    .replaceAll(".reeve/token", join(dataDir, "token"));
  const env = {
    ...process.env,
    PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
    REEVE_URL: url,
    REEVE_TOKEN: token,
    REEVE_DATA_DIR: dataDir,
  };
  const folder = mkdtempSync(join(tmpdir(), "reeve-quickstart-"));
  try {
    const run = promisify(execFile);
    if (install !== undefined) {
      const [shell, ...options] = bash;
      await run(shell, [...options, install(folder)], { cwd: root, env });
    }
    const [command, ...args] = interpreter(folder);
    const { stdout } = await run(command, [...args, code], { cwd: root, env });
    return stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function blockAfter(page: string, line: string): string {
  const [, rest] = page.split(`\n${line}\n`);
  const block = /^```\w+\n([\s\S]*?)^```$/m.exec(rest ?? "")?.[1];
  if (block === undefined) throw new Error(`there is no code block after “${line}”`);
  return block;
}

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { pythonWithClient } from "../../clients/support/python-client.ts";
import type { ComposeProject } from "./compose.ts";

const root = join(import.meta.dirname, "../../..");

export interface Quickstart {
  /** The client that it demonstrates. */
  readonly name: string;
  /** The page that contains it, relative to the root. */
  readonly page: string;
  /** A line of the page; the quickstart is the next code block after it. */
  readonly after: string;
  /** The command that receives the code block as its last argument. */
  interpreter(): Promise<readonly [string, ...string[]]>;
  /** Its expected output. */
  readonly prints: RegExp;
}

/** The quickstarts in the documentation that users copy. */
export const quickstarts: readonly Quickstart[] = [
  {
    name: "curl",
    page: "docs/clients.md",
    after: "With `curl`, over the Connect protocol:",
    interpreter: async () => ["bash", "-euo", "pipefail", "-c"],
    prints: /"runId":\s*"run_[a-z0-9]+"/,
  },
  {
    name: "Python",
    page: "docs/clients.md",
    after: "### Python",
    interpreter: async () => [await pythonWithClient(), "-c"],
    prints: /RUN_STATUS_COMPLETED/,
  },
];

/** Runs the unchanged code with a project's address and token. Returns its output. */
export async function follow(
  { page, after, interpreter }: Quickstart,
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
  const [command, ...args] = await interpreter();
  const { stdout } = await promisify(execFile)(command, [...args, code], { cwd: root, env });
  return stdout;
}

function blockAfter(page: string, line: string): string {
  const [, rest] = page.split(`\n${line}\n`);
  const block = /^```\w+\n([\s\S]*?)^```$/m.exec(rest ?? "")?.[1];
  if (block === undefined) throw new Error(`there is no code block after “${line}”`);
  return block;
}

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import type { ComposeProject } from "./compose.ts";

const root = join(import.meta.dirname, "../../..");

export interface Quickstart {
  /** The client that it shows. */
  readonly name: string;
  /** The page that it stands on, relative to the root. */
  readonly page: string;
  /** A line of the page; the next block of commands after it is the quickstart. */
  readonly after: string;
  /** What it prints when it works. */
  readonly prints: RegExp;
}

/** What a newcomer copies from the documentation, and expects to work. */
export const quickstarts: readonly Quickstart[] = [
  {
    name: "curl",
    page: "README.md",
    after: "With `curl`, over the Connect protocol:",
    prints: /"runId":\s*"run_[a-z0-9]+"/,
  },
];

/** Runs the commands as they are written, but at the address and with the token of a project. Gives what they print. */
export async function follow(
  { page, after }: Quickstart,
  { url, dataDir, token }: ComposeProject,
): Promise<string> {
  const commands = blockAfter(readFileSync(join(root, page), "utf8"), after)
    .replaceAll("http://127.0.0.1:4680", url)
    .replaceAll("127.0.0.1:4680", url.replace("http://", ""))
    .replaceAll(".reeve/token", join(dataDir, "token"));
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", commands], {
    cwd: root,
    env: {
      ...process.env,
      PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
      REEVE_URL: url,
      REEVE_TOKEN: token,
      REEVE_DATA_DIR: dataDir,
    },
  });
  return stdout;
}

function blockAfter(page: string, line: string): string {
  const [, rest] = page.split(`\n${line}\n`);
  const block = /^```(?:sh|bash)\n([\s\S]*?)^```$/m.exec(rest ?? "")?.[1];
  if (block === undefined) throw new Error(`no commands stand after “${line}”`);
  return block;
}

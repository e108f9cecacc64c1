import { runCli } from "../../src/run-cli.ts";
import type { MemoryTerminal } from "./memory-terminal.ts";

/** Runs `reeve` with arguments against a gateway, as if a person typed it on the terminal, with an empty environment. */
export async function typeReeve(terminal: MemoryTerminal, url: string, args: readonly string[]) {
  const signal = new AbortController().signal;
  const code = await runCli(["--url", url, ...args], { terminal, environment: {}, signal });
  return { code, stdout: terminal.stdout, stderr: terminal.stderr };
}

import { expect, test } from "vitest";
import { runCli } from "./run-cli.ts";
import { MemoryTerminal } from "./testing.ts";

/** What a command line that needs no server says, and its exit code. */
async function typed(line: string, answers?: readonly string[]) {
  const terminal = new MemoryTerminal(answers === undefined ? {} : { answers });
  const signal = new AbortController().signal;
  const code = await runCli(line.split(" ").filter(Boolean), { terminal, environment: {}, signal });
  return { code, said: terminal.said, noted: terminal.noted };
}

test("help lists the commands and the exit codes", async () => {
  const { code, said } = await typed("--help");
  expect(code).toBe(0);
  for (const word of ["up", "demo", "run", "runs", "watch", "cancel", "approvals", "approve"]) {
    expect(said).toMatch(new RegExp(`^  ${word}\\b`, "m"));
  }
  expect(said).toContain("4  the server cannot be reached");
});

test.each([
  ["an unknown command", "dance"],
  ["no command", ""],
  ["a missing argument", "run writer"],
  ["an unknown option", "runs --colour"],
  ["a limit that is none", "runs --limit many"],
  ["a status that is none", "runs --status busy"],
  ["a busy thread without a thread", "run writer hello --on-busy queue"],
  ["a way with a busy thread that is none", "run writer hello --thread t --on-busy panic"],
  ["a sequence that is none", "watch run_1 --after -1"],
  ["an address that is none", "runs --url ftp://x"],
  ["a decision both ways", "demo --yes --no"],
  ["a demo that nobody can answer", "demo"],
])("%s is a usage error", async (_, line) => {
  const { code, noted } = await typed(line);
  expect(noted).not.toBe("");
  expect(code).toBe(2);
});

test.each([
  ["does not exist", "demo --yes /no/such.csv"],
  ["is not a file", "demo --yes /tmp"],
  ["does not exist", "demo --yes -o /no/such/folder/report.md"],
  ["cannot be read", "agents validate -f /no/such.yaml"],
])("says in a sentence what %s", async (sentence, line) => {
  const { code, noted } = await typed(line);
  expect(noted).toMatch(new RegExp(`^error: .*${sentence}.*\\n$`));
  expect(code).toBe(1);
});

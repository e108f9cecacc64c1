import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { MemoryTerminal } from "../test/support/memory-terminal.ts";
import { runCli } from "./run-cli.ts";

/** Runs a command line that needs no server. */
async function run(line: string, answers?: readonly string[]) {
  const terminal = new MemoryTerminal(answers === undefined ? {} : { answers });
  const signal = new AbortController().signal;
  const code = await runCli(line.split(" ").filter(Boolean), { terminal, environment: {}, signal });
  return { code, stdout: terminal.stdout, stderr: terminal.stderr };
}

test("help lists the commands and the exit codes", async () => {
  const { code, stdout } = await run("--help");
  expect(code).toBe(0);
  for (const word of ["up", "demo", "run", "runs", "watch", "cancel", "approvals", "approve"]) {
    expect(stdout).toMatch(new RegExp(`^  ${word}\\b`, "m"));
  }
  expect(stdout).toContain("4  the server cannot be reached");
});

test.each([
  ["an unknown command", "dance"],
  ["no command", ""],
  ["a missing argument", "run writer"],
  ["an unknown option", "runs --colour"],
  ["an invalid limit", "runs --limit many"],
  ["an unknown status", "runs --status busy"],
  ["--on-busy without a thread", "run writer hello --on-busy queue"],
  ["an unknown action for a busy thread", "run writer hello --thread t --on-busy panic"],
  ["an invalid sequence", "watch run_1 --after -1"],
  ["a digest that is none", "approve a --digest abc"],
  ["an invalid server address", "runs --url ftp://x"],
  ["contradictory decisions", "demo --yes --no"],
  ["a demo without a person or a decision", "demo"],
])("%s is a usage error", async (_, line) => {
  const { code, stderr } = await run(line);
  expect(stderr).not.toBe("");
  expect(code).toBe(2);
});

test.each([
  ["does not exist", "demo --yes /no/such.csv"],
  ["is not a file", "demo --yes /tmp"],
  ["does not exist", "demo --yes -o /no/such/folder/report.md"],
  ["cannot be read", "agents validate -f /no/such.yaml"],
])("reports in one sentence that a file %s", async (sentence, line) => {
  const { code, stderr } = await run(line);
  expect(stderr).toMatch(new RegExp(`^error: .*${sentence}.*\\n$`));
  expect(code).toBe(1);
});

test("without a server, the hint starts one with the data folder that was given", async () => {
  const folder = mkdtempSync(join(tmpdir(), "reeve-cli-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { code, stderr } = await run(`--data-dir ${folder} --url http://127.0.0.1:1 runs`);
  expect(stderr).toContain(`start one with \`reeve --data-dir ${folder} up\``);
  expect(code).toBe(4);
  const gone = await run(`--data-dir ${folder}/gone runs`);
  expect(gone.stderr).toBe(`error: the data folder ${folder}/gone does not exist\n`);
  expect(gone.code).toBe(2);
});

import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MemoryTerminal } from "../../test/support/memory-terminal.ts";
import { runCli } from "../run-cli.ts";

async function init(...args: readonly string[]) {
  const terminal = new MemoryTerminal();
  const { signal } = new AbortController();
  const code = await runCli(["init", ...args], { terminal, environment: {}, signal });
  return { code, stdout: terminal.stdout, stderr: terminal.stderr };
}

const newFolder = () => mkdtempSync(join(tmpdir(), "reeve-init-"));

test.each([
  ["csv-report", ["agent.schema.json", "agent.yaml", "sales.csv"]],
  ["release-check", ["agent.schema.json", "agent.yaml", "scripts"]],
  [
    "tool-provider",
    [
      "agent.schema.json",
      "agent.yaml",
      "provider.py",
      "providers.json",
      "reeve",
      "requirements.txt",
      "scripts",
    ],
  ],
])("init writes the example %s and prints the commands that use it", async (example, files) => {
  const folder = newFolder();
  const { code, stdout } = await init(folder, "--example", example);
  expect(code).toBe(0);
  expect(readdirSync(folder).toSorted()).toEqual(files);
  expect(readFileSync(join(folder, "agent.yaml"), "utf8")).toMatch(
    /^# yaml-language-server: \$schema=agent\.schema\.json$/m,
  );
  expect(stdout).toMatch(/reeve up\n.*reeve agents apply -f \S+\/agent\.yaml\n.*reeve run /s);
});

test("init replaces no file", async () => {
  const folder = newFolder();
  writeFileSync(join(folder, "agent.yaml"), "mine");
  const { code, stderr } = await init(folder);
  expect(code).toBe(2);
  expect(stderr).toContain("already has agent.yaml; nothing was written");
  expect(readdirSync(folder)).toEqual(["agent.yaml"]);
});

test("a folder that cannot be written is a usage error", async () => {
  const file = join(newFolder(), "file");
  writeFileSync(file, "");
  const { code, stderr } = await init(join(file, "folder"));
  expect(code).toBe(2);
  expect(stderr).toMatch(/^error: .*folder cannot be written: .*; choose another folder\n$/);
});

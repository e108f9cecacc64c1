import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { MemoryTerminal } from "../../test/support/memory-terminal.ts";
import { runCli } from "../run-cli.ts";

async function scriptOf(shell: string): Promise<string> {
  const terminal = new MemoryTerminal();
  const { signal } = new AbortController();
  expect(await runCli(["completion", shell], { terminal, environment: {}, signal })).toBe(0);
  return terminal.stdout;
}

/** Returns what bash offers for the last of these words. */
function offered(script: string, ...words: readonly string[]): readonly string[] {
  const list = ["reeve", ...words].map((word) => `'${word}'`).join(" ");
  const call = `COMP_WORDS=(${list}); COMP_CWORD=${words.length}; _reeve; printf '%s\n' "\${COMPREPLY[@]}"`;
  const printed = execFileSync("bash", ["-c", `${script}\n${call}`], { encoding: "utf8" });
  return printed.split("\n").filter((word) => word !== "");
}

test("bash completes commands, subcommands, and options", async () => {
  const script = await scriptOf("bash");
  expect(offered(script, "re")).toEqual(["retry", "reject", "receipt", "receipt-keys", "rebuild"]);
  expect(offered(script, "agents", "a")).toEqual(["apply"]);
  expect(offered(script, "--url", "http://x", "run", "csv-report", "--wa")).toEqual(["--watch"]);
  expect(offered(script, "agents", "apply", "--f")).toEqual(["--file"]);
  expect(offered(script, "agents", "apply", "--tok")).toEqual(["--token"]);
});

test("zsh uses the script of bash, and fish has its own with descriptions", async () => {
  expect(await scriptOf("zsh")).toBe(
    `autoload -U +X bashcompinit && bashcompinit\n${await scriptOf("bash")}`,
  );
  const fish = await scriptOf("fish");
  expect(fish).toContain("complete -c reeve -n '__fish_use_subcommand' -a retry -d 'Continue");
  expect(fish).toContain("complete -c reeve -n '__fish_seen_subcommand_from run' -l watch -d ");
  for (const line of fish.trim().split("\n")) expect(line).toMatch(/^complete -c reeve -n '/);
});

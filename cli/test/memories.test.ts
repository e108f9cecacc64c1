import { afterAll, beforeAll, expect, test } from "vitest";
import type { GatewayBench } from "@reeve/gateway/test/support/gateway-bench";
import { openGatewayBench, tokens } from "@reeve/gateway/test/support/gateway-bench";
import { runCli } from "../src/run-cli.ts";
import { MemoryTerminal } from "./support/memory-terminal.ts";

let bench: GatewayBench;

beforeAll(async () => {
  bench = await openGatewayBench();
});

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

/** Runs `reeve memories …` as the owner of a token. */
async function memories(args: readonly string[], token: string = tokens.acme) {
  const terminal = new MemoryTerminal();
  const signal = new AbortController().signal;
  const line = ["--url", bench.url, "--token", token, "memories", ...args];
  const code = await runCli(line, { terminal, environment: {}, signal });
  return { code, stdout: terminal.stdout, stderr: terminal.stderr };
}

test("memories can be added, listed, searched, and deleted", async () => {
  expect(await memories(["list"])).toEqual({ code: 0, stdout: "", stderr: "no memories\n" });
  const added = await memories(["add", "Plays the cello\u001b[2J"]);
  const memoryId = added.stdout.trim();
  expect(memoryId).toMatch(/^mem_[0-9a-f]{32}$/);
  await memories(["add", "Lives in Lisbon"]);

  const { stdout: listed } = await memories(["list"]);
  expect(listed).toMatch(/^MEMORY +UPDATED +TEXT\nmem_/);
  expect(listed).toContain("Lives in Lisbon");
  // Without the character that could move a cursor.
  expect(listed).toContain("Plays the cello[2J\n");

  const { stdout: found } = await memories(["search", "a CELLO", "--json"]);
  expect(JSON.parse(found)).toMatchObject({ memoryId, text: "Plays the cello\u001b[2J" });

  expect(await memories(["forget", memoryId])).toMatchObject({ stdout: `${memoryId} deleted\n` });
  expect(await memories(["forget", memoryId])).toEqual({
    code: 1,
    stdout: "",
    stderr: `error: memory ${memoryId} not found; list the memories for their ids
`,
  });
});

test("a search without a match shows the newest memories to people, and nothing to programs", async () => {
  await memories(["add", "Lives in Lisbon"]);
  const { stdout, stderr } = await memories(["search", "dinosaurs"]);
  expect(stderr).toBe("no memory matches; the newest are:\n");
  expect(stdout).toContain("Lives in Lisbon");
  expect(await memories(["search", "dinosaurs", "--json"])).toEqual({
    code: 0,
    stdout: "",
    stderr: "",
  });
});

test("other principals see none of them", async () => {
  await memories(["add", "Lives in Lisbon"]);
  expect((await memories(["list"], tokens.acmeToo)).stdout).toBe("");
  expect((await memories(["search", "Lisbon"], tokens.globex)).stdout).toBe("");
});

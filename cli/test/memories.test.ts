import { afterAll, beforeAll, expect, test } from "vitest";
import type { GatewayBench } from "@reeve/gateway/test/support/gateway-bench";
import { openGatewayBench, tokens } from "@reeve/gateway/test/support/gateway-bench";
import { runCli } from "../src/run-cli.ts";
import { MemoryTerminal } from "../src/testing.ts";

let bench: GatewayBench;

beforeAll(async () => {
  bench = await openGatewayBench();
});

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

/** What `reeve memories …` says to somebody. */
async function memories(args: readonly string[], token: string = tokens.acme) {
  const terminal = new MemoryTerminal();
  const signal = new AbortController().signal;
  const line = ["--url", bench.url, "--token", token, "memories", ...args];
  const code = await runCli(line, { terminal, environment: {}, signal });
  return { code, said: terminal.said, noted: terminal.noted };
}

test("memories are added, listed, searched and forgotten", async () => {
  expect(await memories(["list"])).toEqual({ code: 0, said: "", noted: "nothing is remembered\n" });
  const added = await memories(["add", "Plays the cello\u001b[2J"]);
  const memoryId = added.said.trim();
  expect(memoryId).toMatch(/^mem_[0-9a-f]{32}$/);
  await memories(["add", "Lives in Lisbon"]);

  const { said: listed } = await memories(["list"]);
  expect(listed).toMatch(/^MEMORY +SAID +TEXT\nmem_/);
  expect(listed).toContain("Lives in Lisbon");
  // Nothing that could move a cursor.
  expect(listed).toContain("Plays the cello[2J\n");

  const { said: found } = await memories(["search", "a CELLO", "--json"]);
  expect(JSON.parse(found)).toMatchObject({ memoryId, text: "Plays the cello\u001b[2J" });

  expect(await memories(["forget", memoryId])).toMatchObject({ said: `${memoryId} forgotten\n` });
  expect(await memories(["forget", memoryId])).toEqual({
    code: 1,
    said: "",
    noted: `error: memory ${memoryId} not found; list the memories for their ids\n`,
  });
});

test("a search that fits nothing shows people the latest, and programs nothing", async () => {
  await memories(["add", "Lives in Lisbon"]);
  const { said, noted } = await memories(["search", "dinosaurs"]);
  expect(noted).toBe("nothing has a word of the query; the latest are:\n");
  expect(said).toContain("Lives in Lisbon");
  expect(await memories(["search", "dinosaurs", "--json"])).toEqual({
    code: 0,
    said: "",
    noted: "",
  });
});

test("somebody else sees nothing of it", async () => {
  await memories(["add", "Lives in Lisbon"]);
  expect((await memories(["list"], tokens.acmeToo)).said).toBe("");
  expect((await memories(["search", "Lisbon"], tokens.globex)).said).toBe("");
});

import { toBinary } from "@bufbuild/protobuf";
import { ToolCallFactSchema } from "@reeve/contracts/tool";
import type { ToolCallFact, ToolResult } from "@reeve/contracts/tool";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunningToolhost } from "./support/running-toolhost.ts";
import { runningToolhost } from "./support/running-toolhost.ts";
import { resultOf } from "./support/toolhost.ts";

const signal = new AbortController().signal;
let toolhost: RunningToolhost;

beforeAll(async () => {
  toolhost = await runningToolhost(signal);
});

afterAll(() => toolhost[Symbol.asyncDispose]());

async function wholeOf({ metadata }: ToolResult): Promise<Buffer> {
  const { offloadedArtifactId: id = "" } = metadata ?? {};
  return Buffer.concat(await Array.fromAsync(toolhost.artifacts.read("acme", id, signal)));
}

function largestOf(facts: readonly ToolCallFact[]): number {
  return Math.max(...facts.map((fact) => toBinary(ToolCallFactSchema, fact).length));
}

// Requirement: META-4, TURN-1
test("the output of a command is stored whole, and shown in part", async () => {
  const lines = 500_000;
  const args = { command: ["seq", String(lines)] };
  const facts = await toolhost.made({ callId: "run_1-2-0", name: "run_command", args });
  const result = resultOf(facts);
  expect(result.metadata).toMatchObject({ endReason: "exit", isolation: "bubblewrap" });
  const shown = JSON.parse(result.content) as { stdout: string; offloaded: string };
  expect(shown.stdout).toMatch(/^1\n2\n3\n.*\[cut: 3388895 bytes in all\].*\n499999\n500000\n$/s);
  const { sizeBytes } = (await toolhost.artifacts.list("acme", signal))[0] ?? {};
  expect(shown.offloaded).toBe(
    `[${sizeBytes} bytes in all; call retrieve_artifact with artifact_id ${result.metadata?.offloadedArtifactId} to read the rest]`,
  );
  const whole = JSON.parse((await wholeOf(result)).toString()) as { stdout: string };
  expect(whole.stdout.split("\n")).toHaveLength(lines + 1);
  expect(Buffer.byteLength(result.content)).toBeLessThanOrEqual(50_000);
  expect(largestOf(facts)).toBeLessThan(60_000);
  const listed = await toolhost.artifacts.list("acme", signal);
  expect(listed).toMatchObject([
    { runId: "run_1", name: "run_command-result.json", mediaType: "application/json" },
  ]);
});

test("the result of code may contain any bytes, up to the output limit", async () => {
  const code = "'\\0\\x01' * 600_000 + chr(0xd800)";
  const facts = await toolhost.made({ callId: "run_1-3-0", name: "execute_code", args: { code } });
  const result = resultOf(facts);
  expect(result.isError).toBe(false);
  const whole = JSON.parse((await wholeOf(result)).toString()) as { result: string };
  expect(whole.result.length).toBe(1_200_001);
  expect(largestOf(facts)).toBeLessThan(60_000);
});

test("a long file is shown in part, with a note on how to read the rest", async () => {
  const content = "é".repeat(400_000);
  const path = "long.txt";
  await toolhost.made({ callId: "run_1-4-0", name: "write_file", args: { path, content } });
  const facts = await toolhost.made({ callId: "run_1-4-1", name: "read_file", args: { path } });
  const result = resultOf(facts);
  expect(result.content).toMatch(/^é+\n\[800000 bytes in all; call retrieve_artifact .*\]\né+$/);
  expect((await wholeOf(result)).toString()).toBe(content);
});

test("an image and a large record of an MCP server become artifacts", async () => {
  const facts = await toolhost.made({ callId: "run_1-5-0", name: "mcp__demo__paint", args: {} });
  const result = resultOf(facts);
  expect(result.content).toMatch(
    /^a picture:\n\[image 1: image\/png, 100000 bytes\]\n\[artifacts: the structured result is art_\w+, image 1 is art_\w+\]$/,
  );
  expect(result.structured).toBeUndefined();
  expect(largestOf(facts)).toBeLessThan(10_000);
  const [record = "", picture = ""] = result.content.match(/art_\w+/g) ?? [];
  expect(result.metadata?.offloadedArtifactId).toBe(record);
  const bytes = await Array.fromAsync(toolhost.artifacts.read("acme", picture, signal));
  expect(Buffer.concat(bytes).equals(Buffer.alloc(100_000, 255))).toBe(true);
});

import { setImmediate as otherWork } from "node:timers/promises";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Tool as McpTool } from "@modelcontextprotocol/client";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { usableTools } from "./usable-tools.ts";

const log = createLogger("test", "silent");
const never = new AbortController().signal;
const none = { type: "object", properties: {} };

function tool(name: string, inputSchema: JsonObject = none): McpTool {
  return { name, inputSchema: inputSchema as McpTool["inputSchema"] };
}

function nested(levels: number): JsonObject {
  let schema: JsonObject = { type: "string" };
  for (let level = 0; level < levels; level++) {
    schema = { type: "object", properties: { a: schema } };
  }
  return schema;
}

async function usable(...tools: readonly McpTool[]): Promise<readonly string[]> {
  return (await usableTools("rude", tools, log, never)).map(({ name }) => name);
}

test("a tool that is listed twice is offered once", async () => {
  expect(await usable(tool("a"), tool("a"), tool("b"))).toEqual(["a", "b"]);
});

test("a tool with an invalid name or schema is left out, and the others stay", async () => {
  const tools = [
    tool("a b"),
    tool("thing", { type: "object", properties: { a: { type: "thing" } } }),
    tool("string", { type: "string" }),
    tool("huge", { type: "object", description: "x".repeat(200_000) }),
    tool("good"),
  ];
  expect(await usable(...tools)).toEqual(["good"]);
});

test.each([15, 30, 250, 900, 10_000])(
  "a schema of %d nested objects is too deep",
  async (levels) => {
    expect(await usable(tool("deep", nested(levels)), tool("good", nested(5)))).toEqual(["good"]);
  },
);

test("a schema of an older dialect is accepted", async () => {
  const items = [{ type: "string" }, { type: "number" }];
  const $schema = "http://json-schema.org/draft-07/schema#";
  const schema = { $schema, type: "object", properties: { pair: { type: "array", items } } };
  expect(await usable(tool("old", schema))).toEqual(["old"]);
});

test("at most 256 tools are offered", async () => {
  const many = Array.from({ length: 300 }, (_, index) => tool(`t${index}`));
  expect(await usable(...many)).toHaveLength(256);
});

test("other work of the process runs between two tools", async () => {
  const progress = { isDone: false, turns: 0 };
  const read = usable(tool("a"), tool("b"), tool("c")).finally(() => (progress.isDone = true));
  while (!progress.isDone) {
    await otherWork();
    progress.turns++;
  }
  expect(await read).toEqual(["a", "b", "c"]);
  expect(progress.turns).toBeGreaterThanOrEqual(3);
});

test("rejects with the reason of its signal", async () => {
  const reason = new Error("left");
  const left = usableTools("rude", [tool("a")], log, AbortSignal.abort(reason));
  await expect(left).rejects.toBe(reason);
});

import { existsSync } from "node:fs";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { Server } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

/**
 * An MCP server on standard input and output, for tests. `search` reports progress twice and answers; `await_file` answers
 * when the file `q` exists; `hang` reports once and never answers; `paint` answers with an image and a large record; `flood` answers with more than one message may
 * hold; `crash` ends the process.
 */
const server = new Server(
  { name: "progress-server", version: "1.0.0" },
  { capabilities: { tools: {} } },
);

const query = { type: "object", properties: { q: { type: "string" } } } as const;

server.setRequestHandler("tools/list", () => ({
  tools: [
    {
      name: "search",
      description: "Searches, and says how far it is.",
      inputSchema: query,
      annotations: { readOnlyHint: true },
    },
    {
      name: "await_file",
      description: "Answers when a file exists.",
      inputSchema: query,
      annotations: { readOnlyHint: true },
    },
    { name: "hang", description: "Never answers.", inputSchema: query },
    { name: "paint", description: "Gives a picture.", inputSchema: query },
    { name: "flood", description: "Gives too much.", inputSchema: query },
    { name: "crash", description: "Ends the server.", inputSchema: query },
  ],
}));

server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
  const { progressToken } = params["_meta"] ?? {};
  const report = async (progress: number, message: string) => {
    if (progressToken === undefined) return;
    await mcpReq.notify({
      method: "notifications/progress",
      params: { progressToken, progress, total: 2, message },
    });
  };
  await report(1, "step 1");
  if (params.name === "crash") process.exit(1);
  if (params.name === "hang") await new Promise(() => undefined);
  if (params.name === "await_file") await exists(String(params.arguments?.["q"]));
  await report(2, "step 2");
  if (params.name === "flood") return { content: [textOf("x".repeat(20_000_000))] };
  if (params.name === "paint") {
    const data = Buffer.alloc(100_000, 255).toString("base64");
    return {
      content: [textOf("a picture:"), { type: "image", mimeType: "image/png", data }],
      structuredContent: { points: Array.from({ length: 100_000 }, () => 0) },
    };
  }
  return {
    content: [{ type: "text", text: `found: ${JSON.stringify(params.arguments?.["q"] ?? "")}` }],
  };
});

async function exists(path: string): Promise<void> {
  while (!existsSync(path)) await setTimeout(50);
}

function textOf(text: string) {
  return { type: "text" as const, text };
}

await server.connect(new StdioServerTransport());

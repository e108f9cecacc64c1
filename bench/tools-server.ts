import { setTimeout } from "node:timers/promises";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { pageCharacters, restMs, sleepMs } from "./tools.ts";

/** An MCP server over stdio: `sleep` and `rest` take a known time, and `page` returns a text of known length immediately. */
const server = new Server({ name: "bench", version: "1.0.0" }, { capabilities: { tools: {} } });

const inputSchema = { type: "object", properties: {} } as const;
const page = "reeve ".repeat(pageCharacters).slice(0, pageCharacters);

server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [
    { name: "sleep", description: `Takes ${sleepMs} ms.`, inputSchema },
    { name: "rest", description: `Takes ${restMs} ms.`, inputSchema },
    { name: "page", description: "Returns a page of text.", inputSchema },
  ],
}));

server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
  if (params.name === "sleep") await setTimeout(sleepMs);
  if (params.name === "rest") await setTimeout(restMs);
  return { content: [{ type: "text", text: params.name === "page" ? page : "slept" }] };
});

await server.connect(new StdioServerTransport());

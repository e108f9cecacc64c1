import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import { Server } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

/** An MCP server on standard input and output whose tools count at the address in `COUNTER_URL`, outside of any sandbox. */
const server = new Server({ name: "counter", version: "1.0.0" }, { capabilities: { tools: {} } });
const inputSchema = {
  type: "object" as const,
  properties: { key: { type: "string" }, lastsMs: { type: "number" } },
  required: ["key", "lastsMs"],
};

server.setRequestHandler("tools/list", () => ({
  tools: [
    { name: "charge", description: "Counts.", inputSchema },
    { name: "pay", description: "Counts, if a person agrees.", inputSchema },
    {
      name: "note",
      description: "Counts, and may be called again.",
      inputSchema,
      annotations: { idempotentHint: true },
    },
  ],
}));

server.setRequestHandler("tools/call", async ({ params }) => {
  const { key, lastsMs } = params.arguments ?? {};
  const pauseMs = Number(lastsMs) / 2;
  await wait(pauseMs);
  await fetch(`${process.env["COUNTER_URL"]}/${String(key)}`, { method: "POST" });
  await wait(pauseMs);
  return { content: [{ type: "text", text: `counted ${String(key)}` }] };
});

await server.connect(new StdioServerTransport());

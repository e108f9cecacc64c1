/** A small MCP server over stdio: `search` reports progress twice and answers, `crash` ends the process. */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const server = new Server({ name: "progress", version: "1.0.0" }, { capabilities: { tools: {} } });

server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [
    {
      name: "search",
      description: "Searches in two steps.",
      inputSchema: { type: "object" as const, properties: { q: { type: "string" } } },
    },
    { name: "crash", description: "Ends the server.", inputSchema: { type: "object" as const } },
  ],
}));

server.setRequestHandler(CallToolRequestSchema, async ({ params }, { sendNotification }) => {
  if (params.name === "crash") process.exit(1);
  // The name is the protocol's.
  // oxlint-disable-next-line eslint/no-underscore-dangle
  const progressToken = params._meta?.progressToken;
  for (const progress of [1, 2]) {
    if (progressToken === undefined) continue;
    await sendNotification({
      method: "notifications/progress",
      params: { progressToken, progress, total: 2, message: `step ${progress}` },
    });
  }
  return {
    content: [{ type: "text", text: `found: ${JSON.stringify(params.arguments?.["q"] ?? "")}` }],
  };
});

await server.connect(new StdioServerTransport());

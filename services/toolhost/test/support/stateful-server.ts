import process from "node:process";
import { Server } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

/**
 * An MCP server on standard input and output that keeps state and repeats what it was given, for tests. `remember` returns all
 * texts that this process was sent. `repeat` returns its token and `_meta`; `fail` does that in a protocol error, `print` on
 * standard error, and `report` as progress.
 */
const token = process.env["TOKEN"] ?? "none";
const server = new Server({ name: "stateful", version: "1.0.0" }, { capabilities: { tools: {} } });
const names = ["remember", "repeat", "fail", "print", "report"];
const inputSchema = { type: "object", properties: { text: { type: "string" } } } as const;
const remembered: string[] = [];

server.setRequestHandler("tools/list", () => ({
  tools: names.map((name) => ({ name, description: `Has the token ${token}.`, inputSchema })),
}));

server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
  const { progressToken, ...meta } = mcpReq["_meta"] ?? {};
  const given = JSON.stringify({ token, meta });
  if (params.name === "fail") throw new Error(`refused: ${given}`);
  if (params.name === "print") process.stderr.write(`debug: ${given}\n`);
  if (params.name === "report" && progressToken !== undefined) {
    const progress = { progressToken, progress: 1, message: given };
    await mcpReq.notify({ method: "notifications/progress", params: progress });
  }
  if (params.name === "remember") remembered.push(String(params.arguments?.["text"]));
  const text = params.name === "remember" ? remembered.join() : given;
  return {
    content: [
      { type: "text", text },
      {
        type: "resource",
        resource: { uri: "file:///dump", blob: Buffer.from(`dump ${given}`).toString("base64") },
      },
    ],
    structuredContent: { text },
  };
});

await server.connect(new StdioServerTransport());

import process from "node:process";
import { Server, inputRequired, inputResponse } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

/** The question that `order` asks. */
const requestedSchema = {
  type: "object" as const,
  properties: { dish: { type: "string" as const, enum: ["soup", "salad"] } },
  required: ["dish"],
};

/**
 * An MCP server on standard input and output, for tests, which uses the protocol without sessions. `order` asks a person
 * what to order; `again` asks without end.
 */
serveStdio(
  () => {
    const server = new Server(
      { name: "asking-server", version: "1.0.0" },
      { capabilities: { tools: {} } },
    );
    const inputSchema = { type: "object", properties: {} } as const;
    server.setRequestHandler("tools/list", () => ({
      tools: [
        { name: "order", description: "Orders what a person wants.", inputSchema },
        { name: "again", description: "Never has enough.", inputSchema },
      ],
    }));
    server.setRequestHandler("tools/call", ({ params }, { mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, "dish");
      if (answer.kind !== "elicit" || params.name === "again") {
        const dish = inputRequired.elicit({ message: "What is it to be?", requestedSchema });
        return inputRequired({ inputRequests: { dish }, requestState: "order 1" });
      }
      const state = mcpReq.requestState();
      const said = answer.action === "accept" ? String(answer.content?.["dish"]) : answer.action;
      return { content: [{ type: "text", text: `${String(state)}: ${said}` }] };
    });
    return server;
  },
  { legacy: process.argv[2] === "both" ? "serve" : "reject" },
);

import { existsSync, rmSync, watch } from "node:fs";
import { dirname } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";

/**
 * An MCP server of an older revision, for tests. `guess` asks a person first, and answers without an answer when the file that
 * is its argument exists, which it removes.
 */
interface Message {
  readonly id?: string | number;
  readonly method?: string;
}

const patienceEnds = process.argv[2] ?? "";
const serverInfo = { name: "impatient-server", version: "1.0.0" };
const inputSchema = { type: "object", properties: {} };

function send(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

function ask(call: Message): void {
  const requestedSchema = { type: "object", properties: { number: { type: "integer" } } };
  const params = { message: "Which number is it?", requestedSchema };
  send({ id: "question", method: "elicitation/create", params });
  const watcher = watch(dirname(patienceEnds), () => {
    if (!existsSync(patienceEnds)) return;
    rmSync(patienceEnds);
    watcher.close();
    send({ id: call.id, result: { content: [{ type: "text", text: "I guess 7." }] } });
  });
}

function take(message: Message): void {
  const { id, method } = message;
  if (method === "initialize") {
    const capabilities = { tools: {} };
    send({ id, result: { protocolVersion: "2025-06-18", capabilities, serverInfo } });
  } else if (method === "tools/list")
    send({ id, result: { tools: [{ name: "guess", inputSchema }] } });
  else if (method === "tools/call") ask(message);
}

createInterface({ input: process.stdin }).on("line", (line) => take(JSON.parse(line) as Message));

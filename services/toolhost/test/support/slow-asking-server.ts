import process from "node:process";
import { createInterface } from "node:readline";

/**
 * An MCP server of an older revision, for tests, that ignores cancellation: `pay` asks a person first. It asks about a
 * payment to "later" only when the call is cancelled, or never when the server is `mute`.
 */
interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly arguments?: { readonly to?: string } };
  readonly result?: { readonly action?: string };
}

const isMute = process.argv[2] === "mute";
const inputSchema = { type: "object", properties: {} };
const serverInfo = { name: "slow-asking-server", version: "1.0.0" };
const asked = new Map<string | number, Message>();

function send(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

function ask(call: Message): void {
  const id = `q${asked.size}`;
  asked.set(id, call);
  const message = `Pay ${to(call)}?`;
  const requestedSchema = { type: "object", properties: { ok: { type: "boolean" } } };
  send({ id, method: "elicitation/create", params: { message, requestedSchema } });
}

function to({ params }: Message): string {
  return params?.arguments?.to ?? "";
}

let unasked: Message | undefined;

function take(message: Message): void {
  const { id, method, result } = message;
  if (method === "initialize") {
    const capabilities = { tools: {} };
    send({ id, result: { protocolVersion: "2025-06-18", capabilities, serverInfo } });
  } else if (method === "tools/list")
    send({ id, result: { tools: [{ name: "pay", inputSchema }] } });
  else if (method === "tools/call" && to(message) === "later") {
    unasked = message;
    const { progressToken } =
      (message.params as { _meta?: { progressToken?: unknown } })["_meta"] ?? {};
    send({ method: "notifications/progress", params: { progressToken, progress: 1 } });
  } else if (method === "tools/call") ask(message);
  else if (method === "notifications/cancelled" && unasked !== undefined && !isMute) ask(unasked);
  else if (method === undefined && id !== undefined) {
    const call = asked.get(id);
    const text = `${call === undefined ? "" : to(call)}: ${result?.action ?? "no answer"}`;
    send({ id: call?.id, result: { content: [{ type: "text", text }] } });
  } else if (id !== undefined) send({ id, error: { code: -32_601, message: "no such method" } });
}

createInterface({ input: process.stdin }).on("line", (line) => take(JSON.parse(line) as Message));

import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, Server as HttpServer, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { Server, createMcpHandler } from "@modelcontextprotocol/server";
import type { McpHttpHandler } from "@modelcontextprotocol/server";

/** An MCP server over HTTP, for tests, which uses the protocol without sessions. */
export class HttpMcpServer implements AsyncDisposable {
  readonly headers: IncomingMessage["headers"][] = [];
  /** Called for each call of `hang`, which never answers. */
  readonly hanging = Promise.withResolvers<{ readonly ended: Promise<void> }>();
  /** Names of its tools. `repeat` returns what it was sent. */
  tools: readonly string[] = ["search", "hang"];
  readonly #handler: McpHttpHandler;
  readonly #server: HttpServer;
  /** The tool whose calls are answered with status 500 and a text. */
  broken = "";
  /** Answers requests before the server sees them. Resolves with whether it did. */
  guard: ((request: IncomingMessage, response: ServerResponse) => Promise<boolean>) | undefined;
  port = 0;

  private constructor() {
    this.#handler = createMcpHandler(() => this.#mcp());
    this.#server = createServer((request, response) => {
      this.headers.push(request.headers);
      void this.#answer(request, response);
    });
  }

  static async start(port = 0): Promise<HttpMcpServer> {
    const server = new HttpMcpServer();
    server.#server.listen(port, "127.0.0.1");
    await once(server.#server, "listening");
    // A TCP listener has an address and a port.
    server.port = (server.#server.address() as AddressInfo).port;
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/mcp`;
  }

  /** Changes the tools, and notifies clients. */
  changed(...tools: readonly string[]): void {
    this.tools = tools;
    this.#handler.notify.toolsChanged();
  }

  /** Ends at once, like a killed process. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if ((await this.guard?.(request, response)) === true) return;
    await answer(this.#handler, request, response, this.broken);
  }

  #mcp(): Server {
    const server = new Server(
      { name: "http-server", version: "1.0.0" },
      { capabilities: { tools: { listChanged: true } } },
    );
    const inputSchema = { type: "object", properties: { q: { type: "string" } } } as const;
    server.setRequestHandler("tools/list", () => ({
      tools: this.tools.map((name) => ({ name, inputSchema })),
    }));
    server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
      const { progressToken } = mcpReq["_meta"] ?? {};
      if (progressToken !== undefined) {
        const progress = { progressToken, progress: 1, total: 2, message: "half" };
        await mcpReq.notify({ method: "notifications/progress", params: progress });
      }
      if (params.name === "hang") {
        const { promise, resolve } = Promise.withResolvers<void>();
        mcpReq.signal.addEventListener("abort", () => resolve());
        this.hanging.resolve({ ended: promise });
        await promise;
      }
      if (params.name === "repeat") {
        const text = JSON.stringify({ headers: this.headers.at(-1), meta: mcpReq["_meta"] });
        return { content: [{ type: "text", text }] };
      }
      const said = String(params.arguments?.["q"]);
      return { content: [{ type: "text", text: `found ${said}` }] };
    });
    return server;
  }
}

async function answer(
  handler: McpHttpHandler,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  broken: string,
): Promise<void> {
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort());
  const headers = new Headers(
    Object.entries(incoming.headers).flatMap(([name, value]): [string, string][] =>
      typeof value === "string" ? [[name, value]] : [],
    ),
  );
  const body = await buffer(incoming);
  if (broken !== "" && body.includes(`"name":"${broken}"`)) {
    outgoing.writeHead(500).end("a secret of one call");
    return;
  }
  const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
    method: incoming.method ?? "GET",
    headers,
    signal: gone.signal,
    ...(body.length > 0 && { body: new Uint8Array(body) }),
  });
  try {
    const response = await handler.fetch(request);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    for await (const chunk of response.body ?? []) outgoing.write(chunk);
    outgoing.end();
  } catch {
    // The client is gone.
    outgoing.destroy();
  }
}

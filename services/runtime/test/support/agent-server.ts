import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { AgentCard } from "@a2a-js/sdk";
import { formatSSEEvent } from "@a2a-js/sdk";
import type { AgentExecutor } from "@a2a-js/sdk/server";
import {
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
} from "@a2a-js/sdk/server";

/** Answers a request itself, and returns true; returns false for those that the agent answers. */
export type Intercept = (
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
) => boolean;

/** An agent of the SDK of the A2A project on a port of this host. */
export interface AgentServer extends AsyncDisposable {
  readonly url: string;
  /** The methods of all requests, in order; `card` for the card. */
  readonly asked: readonly string[];
}

/** Starts an agent that `executor` plays. */
export async function startAgentServer(
  executor: AgentExecutor,
  { streams = true, intercept = () => false }: { streams?: boolean; intercept?: Intercept } = {},
): Promise<AgentServer> {
  const asked: string[] = [];
  let handler: JsonRpcTransportHandler | undefined;
  const server = createServer((request, response) => {
    void (async () => {
      let body = "";
      for await (const piece of request) body += String(piece);
      const isCard = request.method === "GET";
      const method = isCard ? "card" : (JSON.parse(body) as { method: string }).method;
      asked.push(method);
      if (intercept(request, response, body)) return;
      response.setHeader("content-type", "application/json");
      if (isCard) return response.end(JSON.stringify(cardAt(url, streams)));
      const context = new ServerCallContext({ requestedVersion: "1.0" });
      const answer = await handler?.handle(body, context);
      if (answer === undefined || !(Symbol.asyncIterator in answer)) {
        return response.end(JSON.stringify(answer));
      }
      response.setHeader("content-type", "text/event-stream");
      for await (const event of answer) response.write(formatSSEEvent(event));
      response.end();
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP listener has an address and a port.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  handler = new JsonRpcTransportHandler(
    new DefaultRequestHandler(cardAt(url, streams), new InMemoryTaskStore(), executor),
  );
  return {
    url,
    asked,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

export function cardAt(url: string, streams: boolean): AgentCard {
  return {
    name: "remote",
    description: "",
    version: "1",
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", tenant: "", protocolVersion: "1.0" }],
    provider: undefined,
    capabilities: { streaming: streams, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
    signatures: [],
  };
}

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import type { AgentExecutor } from "@a2a-js/sdk/server";
import { DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { A2AService, grpcService, UserBuilder } from "@a2a-js/sdk/server/grpc";
import type { Metadata } from "@grpc/grpc-js";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { cardAt } from "./agent-server.ts";

type Handlers = ReturnType<typeof grpcService>;

interface ReceivedCall {
  readonly metadata: Metadata;
  readonly request: { readonly tenant: string };
}

/** An agent of the SDK of the A2A project that is called over gRPC, on ports of this host. */
export interface GrpcAgentServer extends AsyncDisposable {
  /** Where its card is. */
  readonly url: string;
  /** Where it is called, without a scheme. */
  readonly address: string;
  /** All calls, in order. */
  readonly received: readonly ReceivedCall[];
}

/** Starts an agent that `executor` plays. `handlers` replaces the answers of methods; `address` is what the card names instead. */
export async function startGrpcAgent(
  executor: AgentExecutor,
  {
    streams = true,
    handlers = {},
    address,
  }: { streams?: boolean; handlers?: Partial<Handlers>; address?: string } = {},
): Promise<GrpcAgentServer> {
  const received: ReceivedCall[] = [];
  const rpc = new Server({ "grpc.max_send_message_length": -1 });
  const listen = promisify(rpc.bindAsync.bind(rpc));
  const port = await listen("127.0.0.1:0", ServerCredentials.createInsecure());
  const served = `127.0.0.1:${port}`;
  const card = cardAt("", streams);
  const offered = { protocolBinding: "GRPC", tenant: "painter", protocolVersion: "1.0" };
  const supportedInterfaces = [{ ...offered, url: address ?? served }];
  const handler = new DefaultRequestHandler(
    { ...card, supportedInterfaces },
    new InMemoryTaskStore(),
    executor,
  );
  const service = grpcService({
    requestHandler: handler,
    userBuilder: UserBuilder.noAuthentication,
  });
  rpc.addService(A2AService, recording({ ...service, ...handlers } as Handlers, received));
  const cards = createServer((_request, response) => {
    response.end(JSON.stringify({ ...card, supportedInterfaces }));
  });
  cards.listen(0, "127.0.0.1");
  await once(cards, "listening");
  return {
    // A TCP listener has an address and a port.
    url: `http://127.0.0.1:${(cards.address() as AddressInfo).port}/`,
    address: served,
    received,
    async [Symbol.asyncDispose]() {
      rpc.forceShutdown();
      const closed = once(cards, "close");
      cards.close();
      cards.closeAllConnections();
      await closed;
    },
  };
}

/** Returns handlers that also record their calls. */
function recording(handlers: Handlers, received: ReceivedCall[]): Handlers {
  const entries = Object.entries(handlers).map(([name, handle]) => {
    const recorded = (...given: readonly [ReceivedCall]) => {
      received.push(given[0]);
      Reflect.apply(handle, undefined, given);
    };
    return [name, recorded];
  });
  // The same names with handlers of the same form.
  return Object.fromEntries(entries) as Handlers;
}

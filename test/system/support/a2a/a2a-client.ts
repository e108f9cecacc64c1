import type { CallInterceptor, Client } from "@a2a-js/sdk/client";
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";
import { GrpcTransportFactory } from "@a2a-js/sdk/client/grpc";

/** Creates the client of the A2A project for the agent at an address. It sends a token with each request. */
export function openA2AClient(address: string, binding: string, token: string): Promise<Client> {
  const fetchImpl: typeof fetch = (url, init) => {
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${token}`);
    return fetch(url, { ...init, headers });
  };
  const factory = new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [
        new JsonRpcTransportFactory({ fetchImpl }),
        new RestTransportFactory({ fetchImpl }),
        new GrpcTransportFactory(),
      ],
      preferredTransports: [binding],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
      // Of gRPC, whose metadata these are.
      clientConfig: { interceptors: binding === "GRPC" ? [authorized(token)] : [] },
    }),
  );
  return factory.createFromUrl(address, ".well-known/agent-card.json");
}

function authorized(token: string): CallInterceptor {
  return {
    before: async (call) => {
      const parameters = { ...call.options?.serviceParameters, authorization: `Bearer ${token}` };
      call.options = { ...call.options, serviceParameters: parameters };
      await Promise.resolve();
    },
    after: () => Promise.resolve(),
  };
}

/** Posts a request of JSON-RPC, and returns the answer. */
export async function post(address: string, token: string, body: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const answer = await fetch(address, { method: "POST", headers, body });
  return await answer.json();
}

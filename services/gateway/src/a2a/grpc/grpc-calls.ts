import { constants } from "node:http2";
import { RequestMalformedError } from "@a2a-js/sdk/errors";
import type { HandlerContext, Interceptor } from "@connectrpc/connect";
import {
  Code,
  createConnectRouter,
  createContextKey,
  createContextValues,
} from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { universalResponseToNodeResponse } from "@connectrpc/connect-node";
import { A2AService } from "@reeve/contracts/a2a-protocol";
import { relay } from "@reeve/platform/async/relay";
import type { HeldBytes } from "@reeve/platform/rpc/body/held-bytes";
import { readDeep, requestBody } from "@reeve/platform/rpc/body/request-body";
import type { HttpRequest, HttpResponse } from "@reeve/platform/rpc/http/http-handler";
import { defaultLimits } from "@reeve/platform/rpc/server-limits";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { GatewayApi } from "../gateway-api.ts";
import type { Offer } from "../open-handler.ts";
import { agentIdPattern, openHandler } from "../open-handler.ts";
import { grpcErrorOf } from "./grpc-error.ts";
import { grpcService } from "./grpc-service.ts";

/** What a message may have, as a request of the other bindings. */
const limits = { ...defaultLimits, requestTimeoutMs: 30_000 };
/** The longest deadline of a call, as that of the API. A longer one would be over at once, because it is too long for a timer. */
const maxTimeoutMs = 24 * 3_600_000;
const agentId = new RegExp(`^${agentIdPattern}$`);

/** The caller of a request, and the address of the gateway for it. */
interface Caller {
  readonly api: GatewayApi;
  readonly origin: string;
}

const callerKey = createContextKey<Caller | undefined>(undefined, { description: "A2A caller" });
/** The tenant of the caller, once it is authenticated. All clients behind a proxy have its address. */
const tenantKey = createContextKey("", { description: "A2A tenant" });

/** Answers a gRPC request at a path. */
export type GrpcCalls = (request: HttpRequest, response: HttpResponse, caller: Caller) => void;

/** Serves the operations of A2A over gRPC, for the agents of an offer. One tenant may hold half of the bytes of `held`. */
export function grpcCalls(offer: Offer, held: HeldBytes, log: Logger): GrpcCalls {
  const router = createConnectRouter({
    connect: false,
    grpcWeb: false,
    readMaxBytes: limits.maxMessageBytes,
    binaryOptions: readDeep,
    maxTimeoutMs,
    interceptors: [errorsOfA2A(log)],
    // Before the body is read: it authenticates the caller.
    requestGate: async ({ values, signal, requestHeader }) => {
      try {
        const caller = await values.get(callerKey)?.api.identity.getCaller({}, { signal });
        values.set(tenantKey, caller?.tenant ?? "");
      } catch (error) {
        throw grpcErrorOf(error, requestHeader);
      }
    },
  });
  router.service(
    A2AService,
    grpcService(async (tenant, context) => {
      const { handler } = await openHandler(offer, {
        ...callerOf(context),
        agentId: named(tenant),
        signal: context.signal,
      });
      return handler;
    }),
  );
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return (request, response, caller) => {
    const handler = handlers.get(request.url ?? "");
    const answered =
      handler === undefined
        ? universalResponseToNodeResponse({ status: 404 }, response)
        : answer(handler, { request, response, caller, held });
    answered.catch((error: unknown) => {
      log.debug({ err: error, path: request.url }, "an A2A client disconnected");
      if ("stream" in response) response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
      else response.destroy();
    });
  };
}

interface Exchange {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly caller: Caller;
  readonly held: HeldBytes;
}

async function answer(
  handler: UniversalHandler,
  { request, response, caller, held }: Exchange,
): Promise<void> {
  const closed = new AbortController();
  const contextValues = createContextValues().set(callerKey, caller);
  const account = held.open(() => contextValues.get(tenantKey));
  response.once("close", () => {
    account.release();
    closed.abort(new DOMException("the client left", "AbortError"));
  });
  const schema = handler.method.input;
  const options = { request, schema, isStream: false, limits, held: account };
  const { header, chunks } = requestBody(headersOf(request), options);
  const answered = await handler({
    httpVersion: request.httpVersion,
    method: request.method ?? "",
    url: new URL(request.url ?? "", "http://reeve.invalid").href,
    header,
    body: chunks,
    signal: closed.signal,
    contextValues,
  });
  await universalResponseToNodeResponse(answered, response);
}

function callerOf({ values }: HandlerContext): Caller {
  const caller = values.get(callerKey);
  if (caller === undefined) throw new Error("the request has no caller");
  return caller;
}

function named(tenant: string): string {
  if (agentId.test(tenant)) return tenant;
  const message = `tenant "${tenant.slice(0, 100)}" names no agent; set it to the tenant of the GRPC interface in the agent card`;
  throw new RequestMalformedError({ message });
}

/** Gives errors the form of the gRPC binding. */
function errorsOfA2A(log: Logger): Interceptor {
  return (next) => async (request) => {
    const { header, method, signal } = request;
    const mapped = (error: unknown) => {
      const status = grpcErrorOf(error, header);
      if (status.code === Code.Internal && !signal.aborted)
        log.error({ err: error, method: method.name }, "an A2A request failed");
      return status;
    };
    try {
      const response = await next(request);
      if (!response.stream) return response;
      return { ...response, message: relay(response.message, { mapError: mapped }) };
    } catch (error) {
      throw mapped(error);
    }
  };
}

function headersOf({ headers: given }: HttpRequest): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || name.startsWith(":")) continue;
    for (const each of Array.isArray(value) ? value : [value]) headers.append(name, each);
  }
  return headers;
}

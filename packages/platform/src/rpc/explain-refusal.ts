import type { ConnectError } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "../failure.ts";
import { connectErrorOf } from "./connect-failure.ts";
import type { HttpRequest } from "./http/http-handler.ts";

/** Adds a body to the refusal of a request that follows none of the protocols, which the protocols refuse without one. */
export function explained(
  answer: UniversalServerResponse,
  request: Pick<HttpRequest, "method" | "headers">,
  handler: Pick<UniversalHandler, "allowedMethods" | "method">,
): UniversalServerResponse {
  if (answer.status < 400 || answer.body !== undefined) return answer;
  const header = new Headers(answer.header);
  header.set("content-type", "application/json");
  const body = errorToJsonBytes(refusalOf(answer.status, request, handler), undefined);
  return { ...answer, header, body: once(body) };
}

function refusalOf(
  status: number,
  { method, headers }: Pick<HttpRequest, "method" | "headers">,
  handler: Pick<UniversalHandler, "allowedMethods" | "method">,
): ConnectError {
  return connectErrorOf(new Failure("invalid", ErrorReason.INVALID_REQUEST, problem()));
  function problem(): string {
    switch (status) {
      case 405:
        return `the method ${method} is not allowed; use ${handler.allowedMethods.join(" or ")}`;
      case 415: {
        const isUnary = handler.method.methodKind === "unary";
        const connect = isUnary ? "application/json" : "application/connect+json";
        return `the content type "${headers["content-type"] ?? ""}" is not supported; send ${connect}, ${connect.replace("json", "proto")}, application/grpc, or application/grpc-web`;
      }
      case 505:
        return "a stream in both directions needs HTTP/2";
      default:
        return `the request is refused with status ${status}`;
    }
  }
}

async function* once(body: Uint8Array): AsyncIterable<Uint8Array> {
  yield await Promise.resolve(body);
}

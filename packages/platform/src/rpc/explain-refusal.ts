import type { ConnectError } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "../failure.ts";
import { connectErrorOf } from "./connect-failure.ts";
import type { HttpRequest, HttpResponse } from "./http/http-handler.ts";

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

/** Answers a request whose address is only requested with other verbs. */
export function refuseVerb(
  { method = "" }: Pick<HttpRequest, "method">,
  response: HttpResponse,
  verbs: readonly string[],
): void {
  response.statusCode = 405;
  response.setHeader("allow", verbs.join(", "));
  response.setHeader("content-type", "application/json");
  response.end(errorToJsonBytes(connectErrorOf(verbNotAllowed(method, verbs)), undefined));
}

function verbNotAllowed(verb: string, verbs: readonly string[]): Failure {
  const message = `the method ${verb} is not allowed; use ${verbs.join(" or ")}`;
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message);
}

function refusalOf(
  status: number,
  { method = "", headers }: Pick<HttpRequest, "method" | "headers">,
  handler: Pick<UniversalHandler, "allowedMethods" | "method">,
): ConnectError {
  if (status === 405) return connectErrorOf(verbNotAllowed(method, handler.allowedMethods));
  return connectErrorOf(new Failure("invalid", ErrorReason.INVALID_REQUEST, problem()));
  function problem(): string {
    switch (status) {
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

import type { ConnectError } from "@connectrpc/connect";
import { errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "../../failure.ts";
import { shortened } from "../../list-violations.ts";
import { readMetrics } from "../../telemetry/metrics.ts";
import { connectErrorOf } from "../connect-failure.ts";
import type { HttpHandler } from "./http-handler.ts";
import type { PlainSite } from "./plain-site.ts";

/** The maximum length of a path in an error. */
const maxPath = 200;

/** A document that everybody may read. */
export interface PlainDocument {
  /** Its media type. */
  readonly type: string;
  readonly text: string;
}

export interface PlainHttpOptions {
  /** Requests outside of the routes are answered with 503 instead of 404, so that clients retry. */
  readonly phase?: "starting" | "ending";
  /** Documents by path. Default: none. */
  readonly documents?: ReadonlyMap<string, PlainDocument>;
  /** Answers before the documents do. Default: none. */
  readonly site?: PlainSite | undefined;
}

/**
 * Returns a handler for requests that are not RPCs: probes, metrics in the Prometheus format, documents, and 404 for all else.
 */
export function plainHttp(
  ready: () => boolean,
  { phase, documents, site }: PlainHttpOptions = {},
): HttpHandler {
  return (request, response) => {
    const [path = ""] = (request.url ?? "").split("?", 1);
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (isRead && (path === "/livez" || path === "/healthz")) return end(response, 200, "ok\n");
    if (isRead && path === "/readyz") {
      return ready() ? end(response, 200, "ready\n") : end(response, 503, "not ready\n");
    }
    if (isRead && path === "/metrics") return void sendMetrics(response);
    if (site?.(request, response) === true) return;
    const document = isRead ? documents?.get(path) : undefined;
    if (document !== undefined) return end(response, 200, document.text, document.type);
    if (phase !== undefined) return end(response, 503, `${phase}\n`);
    const unknown = errorToJsonBytes(unknownAddress(request.method ?? "", path), undefined);
    return end(response, 404, unknown, "application/json");
  };
}

/** The error of a client that knows methods which this server does not have, or has mistyped one. */
function unknownAddress(verb: string, path: string): ConnectError {
  const message = `${verb} ${shortened(path, maxPath)} not found; this server has no such address`;
  return connectErrorOf(new Failure("unsupported", ErrorReason.INVALID_REQUEST, message));
}

async function sendMetrics(response: Parameters<HttpHandler>[1]): Promise<void> {
  const { type, text } = await readMetrics();
  end(response, 200, text, type);
}

function end(
  response: Parameters<HttpHandler>[1],
  status: number,
  text: string | Uint8Array,
  type = "text/plain; charset=utf-8",
): void {
  response.statusCode = status;
  response.setHeader("content-type", type);
  response.end(text);
}

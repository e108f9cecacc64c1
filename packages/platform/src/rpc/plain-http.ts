import { cors } from "@connectrpc/connect";
import { readMetrics } from "../telemetry/metrics.ts";
import type { HttpHandler } from "./rpc-handler.ts";

/**
 * Answers what is no call: probes as plain HTTP, metrics in the format of Prometheus, and 404. While a server is
 * `away`, starting or ending, that is 503: a client of what it serves comes again.
 */
export function plainHttp(ready: () => boolean, away?: "starting" | "ending"): HttpHandler {
  return (request, response) => {
    const [path = ""] = (request.url ?? "").split("?", 1);
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (isRead && (path === "/livez" || path === "/healthz")) return end(response, 200, "ok\n");
    if (isRead && path === "/readyz") {
      return ready() ? end(response, 200, "ready\n") : end(response, 503, "not ready\n");
    }
    if (isRead && path === "/metrics") return void sendMetrics(response);
    if (away !== undefined) return end(response, 503, `${away}\n`);
    return end(response, 404, `nothing is served at ${path}\n`);
  };
}

/** Lets browsers of any origin call: a credential is a header that a page must know, never a cookie. */
export function withCors(handler: HttpHandler): HttpHandler {
  return (request, response) => {
    if (request.headers.origin !== undefined) {
      response.setHeader("access-control-allow-origin", "*");
      response.setHeader("access-control-expose-headers", exposed);
    }
    const asks = request.headers["access-control-request-method"] !== undefined;
    if (request.method !== "OPTIONS" || !asks) return handler(request, response);
    response.setHeader("access-control-allow-methods", cors.allowedMethods.join(", "));
    response.setHeader("access-control-allow-headers", allowed);
    response.setHeader("access-control-max-age", "7200");
    response.statusCode = 204;
    response.end();
  };
}

const exposed = cors.exposedHeaders.join(", ");
const allowed = [...cors.allowedHeaders, "Authorization"].join(", ");

async function sendMetrics(response: Parameters<HttpHandler>[1]): Promise<void> {
  const { type, text } = await readMetrics();
  end(response, 200, text, type);
}

function end(
  response: Parameters<HttpHandler>[1],
  status: number,
  text: string,
  type = "text/plain; charset=utf-8",
): void {
  response.statusCode = status;
  response.setHeader("content-type", type);
  response.end(text);
}

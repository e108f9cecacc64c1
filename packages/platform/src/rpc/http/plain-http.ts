import { readMetrics } from "../../telemetry/metrics.ts";
import type { HttpHandler } from "./http-handler.ts";

/**
 * Returns a handler for requests that are not RPCs: probes, metrics in the Prometheus format, and 404 for all else. In a
 * `phase` of unavailability that is 503 instead of 404, so that clients retry.
 */
export function plainHttp(ready: () => boolean, phase?: "starting" | "ending"): HttpHandler {
  return (request, response) => {
    const [path = ""] = (request.url ?? "").split("?", 1);
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (isRead && (path === "/livez" || path === "/healthz")) return end(response, 200, "ok\n");
    if (isRead && path === "/readyz") {
      return ready() ? end(response, 200, "ready\n") : end(response, 503, "not ready\n");
    }
    if (isRead && path === "/metrics") return void sendMetrics(response);
    if (phase !== undefined) return end(response, 503, `${phase}\n`);
    return end(response, 404, `${path} not found\n`);
  };
}

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

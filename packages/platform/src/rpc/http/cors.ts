import { cors } from "@connectrpc/connect";
import type { HttpRequest, HttpResponse } from "./http-handler.ts";

/**
 * Adds CORS for all origins, and answers a preflight request: then returns true. This is safe because a credential is a
 * header that the page must know, never a cookie.
 */
export function answerCors(request: HttpRequest, response: HttpResponse): boolean {
  if (request.headers.origin !== undefined) {
    response.setHeader("access-control-allow-origin", "*");
    response.setHeader("access-control-expose-headers", exposed);
  }
  const requestsMethod = request.headers["access-control-request-method"] !== undefined;
  if (request.method !== "OPTIONS" || !requestsMethod) return false;
  response.setHeader("access-control-allow-methods", cors.allowedMethods.join(", "));
  response.setHeader("access-control-allow-headers", allowed);
  response.setHeader("access-control-max-age", "7200");
  response.statusCode = 204;
  response.end();
  return true;
}

const exposed = cors.exposedHeaders.join(", ");
const allowed = [...cors.allowedHeaders, "Authorization", "Last-Event-ID"].join(", ");

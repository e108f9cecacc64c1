import type { HttpRequest } from "@reeve/platform/rpc/http/http-handler";

/** Returns the address under which the client of a request reaches the gateway: the configured one, or that of the request. */
export function requestOrigin(request: HttpRequest, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return publicUrl.replace(/\/$/, "");
  const { headers, socket } = request;
  const scheme = "encrypted" in socket ? "https" : "http";
  const authority = headers[":authority"] ?? headers.host;
  return `${scheme}://${typeof authority === "string" ? authority : "localhost"}`;
}

/** Returns the host and port of an origin, in the form of gRPC. Undefined: it has none. */
export function hostAndPort(origin: string): string | undefined {
  if (!URL.canParse(origin)) return undefined;
  const { hostname, port, protocol } = new URL(origin);
  const usual = protocol === "https:" ? "443" : "80";
  return `${hostname}:${port === "" ? usual : port}`;
}

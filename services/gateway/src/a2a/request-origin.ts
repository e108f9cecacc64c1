import type { HttpRequest } from "@reeve/platform/rpc/http/http-handler";

/** Returns the address under which the client of a request reaches the gateway: the configured one, or that of the request. */
export function requestOrigin(request: HttpRequest, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return publicUrl.replace(/\/$/, "");
  const { headers, socket } = request;
  const scheme = "encrypted" in socket ? "https" : "http";
  const authority = headers[":authority"] ?? headers.host;
  return `${scheme}://${typeof authority === "string" ? authority : "localhost"}`;
}

/** The settings that decide which address a card names for gRPC. */
interface GrpcPlace {
  readonly publicUrl: string | undefined;
  /** `host:port`, or `off`. Undefined: the host of the request, and none if there is a `publicUrl`. */
  readonly grpcAddress: string | undefined;
}

/** Returns the address that cards name for gRPC, as `host:port`. `origin` is the one of the request. Undefined: they name none. */
export function grpcAddressOf(
  { publicUrl, grpcAddress }: GrpcPlace,
  origin: string,
): string | undefined {
  if (grpcAddress !== undefined) return grpcAddress === "off" ? undefined : grpcAddress;
  // What is in front of the gateway may not forward gRPC.
  if (publicUrl !== undefined || !URL.canParse(origin)) return undefined;
  const { hostname, port, protocol } = new URL(origin);
  const ofScheme = protocol === "https:" ? "443" : "80";
  return `${hostname}:${port === "" ? ofScheme : port}`;
}

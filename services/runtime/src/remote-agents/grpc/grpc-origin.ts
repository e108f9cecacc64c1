import type { Remote } from "../remotes-file.ts";

/** `host:port`, the form of the A2A specification, with an optional scheme. */
const addressPattern = /^(?:(https?):\/\/)?(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::(\d{1,5}))?\/?$/i;

/**
 * Returns the origin at which a card's gRPC address is called. Undefined: the operator does not permit the address, or it is none. The
 * permitted origin decides about TLS, which an address without a scheme does not name. Without a port, the address has port 443.
 */
export function grpcOriginOf(
  { grpcOrigins }: Pick<Remote, "grpcOrigins">,
  address: string,
): string | undefined {
  const [, scheme, host = "", port] = addressPattern.exec(address) ?? [];
  const named = `${scheme ?? "https"}://${host}${port === undefined ? "" : `:${port}`}`;
  if (host === "" || !URL.canParse(named)) return undefined;
  const { hostname, protocol } = new URL(named);
  const wanted = port === undefined ? portOf(named) : String(Number(port));
  return grpcOrigins.find((origin) => {
    const permitted = new URL(origin);
    const isScheme = scheme === undefined || permitted.protocol === protocol;
    return isScheme && permitted.hostname === hostname && portOf(origin) === wanted;
  });
}

function portOf(origin: string): string {
  const { port, protocol } = new URL(origin);
  if (port !== "") return port;
  return protocol === "https:" ? "443" : "80";
}

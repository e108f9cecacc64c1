import type { Duplex } from "node:stream";
import { normalizeHost } from "@reeve/agent/spec/network-entry";
import type { Target } from "./call-traffic.ts";
import type { HostConnection } from "./connect-to-host.ts";

const defaultPort = 80;

/** Returns the target of `CONNECT host:port`; undefined if it is malformed. */
export function targetOfTunnel(authority: string): Target | undefined {
  const [, written = "", port = ""] =
    /^(\[[0-9a-fA-F:.]+\]|[^:[\]]+):(\d{1,5})$/.exec(authority) ?? [];
  return targetOf(written, Number(port));
}

/** Returns the target of a plain request; undefined if it is not valid. */
export function targetOfUrl(url: URL): Target | undefined {
  return targetOf(url.hostname, url.port === "" ? defaultPort : Number(url.port));
}

/** Answers a refused or failed CONNECT. The status line carries the reason as well, because most programs show only that. */
export function refuseTunnel(
  client: Duplex,
  { kind, reason }: Exclude<HostConnection, { kind: "open" }>,
): void {
  const status =
    kind === "refused" ? "403 Refused by the network policy of the agent" : "502 Host unreachable";
  const body = Buffer.from(`${reason}\n`);
  const head = [
    `HTTP/1.1 ${status}`,
    "content-type: text/plain; charset=utf-8",
    `content-length: ${body.length}`,
    "connection: close",
    "\r\n",
  ].join("\r\n");
  client.once("finish", () => client.destroy());
  client.end(Buffer.concat([Buffer.from(head), body]));
}

function targetOf(written: string, port: number): Target | undefined {
  const host = normalizeHost(written);
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}

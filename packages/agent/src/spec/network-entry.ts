import { isIP } from "node:net";

/** One entry of a list of reachable hosts. */
export interface NetworkEntry {
  /** The entry in normalized form. */
  readonly text: string;
  readonly host: HostPattern;
  /** Undefined for any port. */
  readonly port: number | undefined;
}

/** `below` matches all names below `host`, but not `host` itself. */
type HostPattern =
  | { readonly kind: "any" }
  | { readonly kind: "name" | "address" | "below"; readonly host: string };

/** Who wrote an entry: an agent names hosts and ports; an operator may also write `*` for all hosts or all ports. */
export type EntryAuthor = "agent" | "operator";

const maxNameLength = 253;
const label = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;
/** Matches names that a resolver takes for an address although they are not written as one: `127.1`, `0x7f000001`. */
const numeric = /^(?:\d+|0x[0-9a-f]*)$/;

/** Parses `host:port`, `*.host:port`, or `[address]:port`. Returns undefined for anything else. */
export function parseNetworkEntry(text: string, author: EntryAuthor): NetworkEntry | undefined {
  const [, written = "", portText = ""] = /^(\[[^\]]*\]|[^:[\]]*):(\d{1,5}|\*)$/.exec(text) ?? [];
  const host = patternOf(written);
  const port = portText === "*" ? undefined : Number(portText);
  if (host === undefined || portText === "" || (port !== undefined && !isPort(port))) return;
  if (author === "agent" && (host.kind === "any" || port === undefined)) return;
  return { text: `${textOf(host)}:${port ?? "*"}`, host, port };
}

/** Returns the normalized form of a host: a lowercase name without a trailing dot, or an address. Undefined for anything else. */
export function normalizeHost(written: string): string | undefined {
  const bare = written.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  if (isIP(bare) > 0) return bare.includes("%") ? undefined : plainAddress(bare);
  return isName(bare.replace(/\.$/, "")) ? bare.replace(/\.$/, "") : undefined;
}

/** Returns whether one of the entries permits a port of a host, in the form that `normalizeHost` returns. */
export function permitsHost(entries: readonly NetworkEntry[], host: string, port: number): boolean {
  return entries.some(
    (entry) => (entry.port === undefined || entry.port === port) && matchesHost(entry.host, host),
  );
}

/** Returns whether `outer` permits everything that `inner` permits. */
export function includesEntry(outer: NetworkEntry, inner: NetworkEntry): boolean {
  if (outer.port !== undefined && outer.port !== inner.port) return false;
  if (outer.host.kind === "any") return true;
  if (inner.host.kind === "any") return false;
  if (inner.host.kind !== "below") return matchesHost(outer.host, inner.host.host);
  return outer.host.kind === "below" && `.${inner.host.host}`.endsWith(`.${outer.host.host}`);
}

/** Returns whether there is a host and a port that both entries permit. */
export function overlapsEntry(a: NetworkEntry, b: NetworkEntry): boolean {
  const isSamePort = a.port === undefined || b.port === undefined || a.port === b.port;
  return isSamePort && (overlapsHost(a.host, b.host) || overlapsHost(b.host, a.host));
}

function overlapsHost(outer: HostPattern, inner: HostPattern): boolean {
  if (outer.kind === "any" || inner.kind === "any") return true;
  if (inner.kind !== "below") return matchesHost(outer, inner.host);
  return outer.kind === "below" && `.${inner.host}`.endsWith(`.${outer.host}`);
}

function matchesHost(pattern: HostPattern, host: string): boolean {
  if (pattern.kind === "any") return true;
  if (pattern.kind === "below") return isIP(host) === 0 && host.endsWith(`.${pattern.host}`);
  return pattern.host === host;
}

function patternOf(written: string): HostPattern | undefined {
  if (written === "*") return { kind: "any" };
  if (written.startsWith("*.")) {
    const host = normalizeHost(written.slice(2));
    return host === undefined || isIP(host) > 0 ? undefined : { kind: "below", host };
  }
  const host = normalizeHost(written);
  if (host === undefined) return undefined;
  // An IPv6 address without brackets would be ambiguous: its last group could be a port.
  return { kind: isIP(host) > 0 ? "address" : "name", host };
}

function textOf(pattern: HostPattern): string {
  if (pattern.kind === "any") return "*";
  if (pattern.kind === "below") return `*.${pattern.host}`;
  return isIP(pattern.host) === 6 ? `[${pattern.host}]` : pattern.host;
}

function isPort(port: number): boolean {
  return port >= 1 && port <= 65_535;
}

function isName(host: string): boolean {
  const labels = host.split(".");
  const last = labels.at(-1) ?? "";
  return (
    host.length <= maxNameLength && labels.every((each) => label.test(each)) && !numeric.test(last)
  );
}

/** Returns the shortest form of an address, so that equal addresses are equal texts, also as IPv4 addresses in IPv6 form. */
function plainAddress(address: string): string {
  if (isIP(address) === 4) return address;
  const plain = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [, high, low] = mappedAddress.exec(plain) ?? [];
  if (high === undefined || low === undefined) return plain;
  const bytes = [high, low].flatMap((half) => {
    const value = Number.parseInt(half, 16);
    return [value >> 8, value & 0xff];
  });
  return bytes.join(".");
}

/** An IPv4 address in IPv6 form, as URLs write it. */
const mappedAddress = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

import { isIP } from "node:net";

/** One line of what may be reached of a network. */
export interface NetworkEntry {
  /** As it was written, in the one way of writing it. */
  readonly text: string;
  readonly host: HostPattern;
  /** Undefined: any port. */
  readonly port: number | undefined;
}

/** `below` stands for all names below one, which is not among them. */
type HostPattern =
  { readonly kind: "any" } | { readonly kind: "name" | "address" | "below"; readonly host: string };

/** Who may be named: an agent names hosts and ports, an operator may also say `*` for all hosts or all ports. */
export type EntryAuthor = "agent" | "operator";

const maxNameLength = 253;
const label = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;
/** What a resolver takes for an address although it is none as it should be written: `127.1`, `0x7f000001`. */
const numeric = /^(?:\d+|0x[0-9a-f]*)$/;

/** Parses `host:port`, `*.host:port` or `[address]:port`. Undefined when it is none of them. */
export function parseNetworkEntry(text: string, writer: EntryAuthor): NetworkEntry | undefined {
  const [, written = "", portText = ""] = /^(\[[^\]]*\]|[^:[\]]*):(\d{1,5}|\*)$/.exec(text) ?? [];
  const host = patternOf(written);
  const port = portText === "*" ? undefined : Number(portText);
  if (host === undefined || portText === "" || (port !== undefined && !isPort(port))) return;
  if (writer === "agent" && (host.kind === "any" || port === undefined)) return;
  return { text: `${textOf(host)}:${port ?? "*"}`, host, port };
}

/** A host as everybody is to write it: a name in lower case without a dot at its end, or an address. Undefined: neither. */
export function normalizeHost(written: string): string | undefined {
  const bare = written.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  if (isIP(bare) > 0) return bare.includes("%") ? undefined : plainAddress(bare);
  return isName(bare.replace(/\.$/, "")) ? bare.replace(/\.$/, "") : undefined;
}

/** Whether one of the entries takes a host, as `hostOf` gives it, and a port. */
export function permitsHost(entries: readonly NetworkEntry[], host: string, port: number): boolean {
  return entries.some(
    (entry) => (entry.port === undefined || entry.port === port) && takes(entry.host, host),
  );
}

/** Whether `outer` permits whatever `inner` does. */
export function includesEntry(outer: NetworkEntry, inner: NetworkEntry): boolean {
  if (outer.port !== undefined && outer.port !== inner.port) return false;
  if (outer.host.kind === "any") return true;
  if (inner.host.kind === "any") return false;
  if (inner.host.kind !== "below") return takes(outer.host, inner.host.host);
  return outer.host.kind === "below" && `.${inner.host.host}`.endsWith(`.${outer.host.host}`);
}

function takes(pattern: HostPattern, host: string): boolean {
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
  // An address of IPv6 without brackets cannot be told from its port.
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

/** The shortest way of writing an address, so that equal ones are equal texts. */
function plainAddress(address: string): string {
  return isIP(address) === 4 ? address : new URL(`http://[${address}]`).hostname.slice(1, -1);
}

import { lookup } from "node:dns";
import type { LookupAddress, LookupAllOptions, LookupOptions } from "node:dns";
import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** Always blocked: this host, link-local, multicast, and broadcast addresses, and the metadata services of clouds. */
const blockedRanges = [
  ["0.0.0.0", 8],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["224.0.0.0", 3],
  ["100.100.100.200", 32],
  ["192.0.0.0", 24],
  ["168.63.129.16", 32],
  ["::", 128],
  ["::1", 128],
  ["fe80::", 10],
  ["ff00::", 8],
  ["fd00:ec2::254", 128],
  ["fd20:ce::254", 128],
  // IPv4 addresses embedded in IPv6: compatible, translated (SIIT and NAT64), and 6to4.
  ["::", 96],
  ["::ffff:0:0:0", 96],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["2002::", 16],
] as const;

/** Private networks of homes, offices, providers, and clusters, and tunnels into them. */
export const privateRanges = [
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["100.64.0.0", 10],
  ["198.18.0.0", 15],
  ["fc00::", 7],
  ["fec0::", 10],
  ["2001::", 32],
] as const;

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** `dns.lookup` for all addresses of a name. */
export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Checks addresses against those that are blocked unless an operator allows them. */
export class AddressGuard {
  readonly #blocked: BlockList;
  readonly #allowed: BlockList;
  readonly #own: () => readonly string[];
  readonly #resolve: Resolve;

  /**
   * `allowed` takes precedence over all blocked addresses. `more` is blocked in addition to the default ranges and to the
   * current addresses of this host, `own`. `resolve` returns all addresses of a name.
   */
  constructor(
    allowed: readonly string[],
    more: typeof privateRanges | readonly [] = [],
    own: () => readonly string[] = ownAddresses,
    resolve: Resolve = lookup,
  ) {
    this.#own = own;
    this.#resolve = resolve;
    this.#blocked = listOf([...blockedRanges, ...more]);
    this.#allowed = listOf(
      allowed.map((range) => {
        const [address = "", bits] = range.split("/");
        return [address, bits === undefined ? bitsOf(address) : Number(bits)];
      }),
    );
  }

  permits(address: string): boolean {
    if (isIP(address) === 0 || address.includes("%")) return false;
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    return this.#allowed.check(address, family) || !this.#isBlocked(address, family);
  }

  /** Throws a Failure if the host of a URL is an address that is not permitted. A name is checked when it resolves. */
  assertUrl(url: URL): void {
    const host = url.hostname.replace(/^\[|\]$/g, "");
    if (isIP(host) > 0 && !this.permits(host)) throw notPermitted(host, host);
  }

  /** Resolves a name for a connection, as `dns.lookup`. Fails if any of its addresses is not permitted. */
  readonly lookup = (hostname: string, options: LookupOptions, callback: LookupCallback): void => {
    this.#resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const forbidden = addresses?.find(({ address }) => !this.permits(address));
      if (error !== null) callback(error, []);
      else if (forbidden !== undefined) callback(notPermitted(hostname, forbidden.address), []);
      else if (options.all === true) callback(null, addresses);
      else callback(null, addresses[0]?.address ?? "", addresses[0]?.family);
    });
  };

  #isBlocked(address: string, family: "ipv4" | "ipv6"): boolean {
    if (this.#blocked.check(address, family)) return true;
    return listOf(this.#own().map((own) => [own, bitsOf(own)])).check(address, family);
  }
}

function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((each) =>
    (each ?? []).map(({ address }) => address),
  );
}

function notPermitted(host: string, address: string): Failure {
  const problem = `${host} is at ${address}, which is not permitted; add it to the server's allow_addresses to permit it`;
  return new Failure("denied", ErrorReason.INVALID_REQUEST, problem);
}

function bitsOf(address: string): number {
  return isIP(address) === 4 ? 32 : 128;
}

function listOf(ranges: readonly (readonly [string | undefined, number])[]): BlockList {
  const list = new BlockList();
  for (const [address = "", bits] of ranges) {
    list.addSubnet(address, bits, isIP(address) === 6 ? "ipv6" : "ipv4");
  }
  return list;
}

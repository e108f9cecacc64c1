import { lookup } from "node:dns";
import type { LookupAddress, LookupOptions } from "node:dns";
import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** This host by itself, its links, everybody at once, and where clouds tell machines their secrets. */
const closed = [
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
  // IPv4 addresses in other words: compatible, translated twice, and over 6to4.
  ["::", 96],
  ["::ffff:0:0:0", 96],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["2002::", 16],
] as const;

/** Networks of houses, offices, providers and clusters, and ways into them. */
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

type Answered = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** Holds the addresses of one server against those that nobody is to reach unless an operator says so. */
export class AddressGuard {
  readonly #closed: BlockList;
  readonly #open: BlockList;
  readonly #own: () => readonly string[];

  /** `more` is closed beside what always is, which the addresses are that this host has at the moment: `own`. */
  constructor(
    allowed: readonly string[],
    more: typeof privateRanges | readonly [] = [],
    own: () => readonly string[] = ownAddresses,
  ) {
    this.#own = own;
    this.#closed = listOf([...closed, ...more]);
    this.#open = listOf(
      allowed.map((range) => {
        const [address = "", bits] = range.split("/");
        return [address, bits === undefined ? bitsOf(address) : Number(bits)];
      }),
    );
  }

  permits(address: string): boolean {
    if (isIP(address) === 0 || address.includes("%")) return false;
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    return this.#open.check(address, family) || !this.#isClosed(address, family);
  }

  /** Throws a Failure when the host of a URL is an address that is not permitted. A name is looked at when it resolves. */
  assertUrl(url: URL): void {
    const host = url.hostname.replace(/^\[|\]$/g, "");
    if (isIP(host) > 0 && !this.permits(host)) throw notPermitted(host, host);
  }

  /** Resolves a name for a connection, to addresses that are permitted; one that is not refuses the name. */
  readonly lookup = (hostname: string, options: LookupOptions, answered: Answered): void => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const forbidden = addresses?.find(({ address }) => !this.permits(address));
      if (error !== null) answered(error, []);
      else if (forbidden !== undefined) answered(notPermitted(hostname, forbidden.address), []);
      else if (options.all === true) answered(null, addresses);
      else answered(null, addresses[0]?.address ?? "", addresses[0]?.family);
    });
  };

  #isClosed(address: string, family: "ipv4" | "ipv6"): boolean {
    if (this.#closed.check(address, family)) return true;
    return listOf(this.#own().map((own) => [own, bitsOf(own)])).check(address, family);
  }
}

function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((each) =>
    (each ?? []).map(({ address }) => address),
  );
}

function notPermitted(host: string, address: string): Failure {
  const problem = `${host} is at ${address}, which is not permitted; the server's allow_addresses can permit it`;
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

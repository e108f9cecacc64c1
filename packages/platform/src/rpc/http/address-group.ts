import { isIPv6 } from "node:net";

const groupCount = 8;
/** How many 16-bit groups of an IPv6 address name its network: 64 bits, in which one host may choose any address. */
const networkGroups = 4;
/** Node writes an IPv4 address that a socket for both versions accepted with this prefix. */
const mappedPrefix = "::ffff:";

/**
 * Returns what the connections of an address are counted for: the address itself for IPv4, and its network of 64 bits for
 * IPv6. An IPv4 address in the form of IPv6, as a socket for both reports it, is the same as the IPv4 address.
 */
export function addressGroup(address: string): string {
  const [plain = ""] = address.toLowerCase().split("%", 1);
  if (!isIPv6(plain)) return plain;
  const isMapped = plain.startsWith(mappedPrefix) && plain.includes(".");
  if (isMapped) return plain.slice(mappedPrefix.length);
  const [before = [], after = []] = plain
    .split("::")
    .map((part) => part.split(":").filter((group) => group !== ""));
  const zeros = Array.from({ length: groupCount - before.length - after.length }, () => "0");
  const network = [...before, ...zeros, ...after].slice(0, networkGroups);
  return `${network.join(":")}::/64`;
}

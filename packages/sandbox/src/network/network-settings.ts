import { isIP } from "node:net";
import type { NetworkEntry } from "@reeve/agent/spec/network-entry";
import { parseNetworkEntry } from "@reeve/agent/spec/network-entry";
import { z } from "zod";

/** Entries `host:port`, separated by commas. `*` matches all hosts, or all ports. */
export const networkEntries = z.string().transform((text, context): readonly NetworkEntry[] =>
  partsOf(text).flatMap((part) => {
    const entry = parseNetworkEntry(part, "operator");
    if (entry !== undefined) return [entry];
    context.addIssue(
      `"${part}" is not host:port, such as example.org:443, *.example.org:443 or *:443`,
    );
    return [];
  }),
);

/** An address, or a range such as `10.0.0.0/8`. */
export const addressRange = z
  .string()
  .refine(isAddressRange, "is not an address, such as 127.0.0.1 or 10.0.0.0/8");

/** Addresses and ranges, separated by commas. */
export const addressRanges = z.string().transform((text, context): readonly string[] => {
  const parts = partsOf(text);
  for (const part of parts) {
    if (!isAddressRange(part))
      context.addIssue(`"${part}" is not an address, such as 10.1.2.3 or fd00::/8`);
  }
  return parts;
});

function partsOf(text: string): readonly string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function isAddressRange(text: string): boolean {
  const [address = "", bits, ...more] = text.split("/");
  const maxBits = isIP(address) === 4 ? 32 : 128;
  const isBits = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= maxBits);
  return isIP(address) > 0 && isBits && more.length === 0;
}

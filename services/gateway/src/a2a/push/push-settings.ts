import { AddressGuard } from "@reeve/sandbox/network/address-guard";
import { z } from "zod";

const list = z.string().transform((text) =>
  text
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== ""),
);

/** URLs of http or https, separated by commas. */
export const urlList = list.pipe(z.array(z.url({ protocol: /^https?$/ })));

/** Addresses and ranges of addresses, separated by commas. */
export const addressList = list.pipe(
  z.array(z.string().refine(isRange, { message: "is no address, and no range as 10.0.0.0/8" })),
);

function isRange(text: string): boolean {
  try {
    return new AddressGuard([text]) instanceof AddressGuard;
  } catch {
    return false;
  }
}

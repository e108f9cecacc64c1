import type { JWK } from "jose";
import { z } from "zod";

const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });
/** The kinds of keys with a public part. */
const publicKinds = new Set(["OKP", "EC", "RSA"]);

/** Returns the public keys in the JSON of a set of keys; others are left out. Undefined: there is none. */
export function keysIn(text: string): readonly JWK[] | undefined {
  try {
    const keys = keySet.parse(JSON.parse(text)).keys.filter(({ kty }) => publicKinds.has(kty));
    return keys.length === 0 ? undefined : keys;
  } catch {
    return undefined;
  }
}

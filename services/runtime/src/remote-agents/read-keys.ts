import type { JWK } from "jose";
import { z } from "zod";

const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.enum(["OKP", "EC", "RSA"]) })) });

/** Returns the public keys in the JSON of a set of keys. Undefined: it is none. */
export function keysIn(text: string): readonly JWK[] | undefined {
  try {
    return keySet.parse(JSON.parse(text)).keys;
  } catch {
    return undefined;
  }
}

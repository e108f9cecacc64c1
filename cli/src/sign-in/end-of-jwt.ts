import { z } from "zod";

const claims = z.object({ exp: z.number().positive() });

/** Returns when a JWT ends, in milliseconds since the epoch. Undefined if it does not say, or if the text is not a JWT. */
export function endOfJwt(token: string): number | undefined {
  const [, payload = ""] = token.split(".");
  try {
    const parsed = claims.safeParse(JSON.parse(Buffer.from(payload, "base64url").toString()));
    return parsed.success ? parsed.data.exp * 1_000 : undefined;
  } catch {
    return undefined;
  }
}

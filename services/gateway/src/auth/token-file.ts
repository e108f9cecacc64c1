import type { StoredPrincipal } from "./principal-lines.ts";
import { parsePrincipalLines } from "./principal-lines.ts";

/**
 * Parses a token file. Each line is `sha256:DIGEST tenant/subject/role+role [until=TIME]`, with the SHA-256 of the token in
 * lowercase hexadecimal and an ISO 8601 time with its zone; empty lines and lines that start with `#` are ignored. Returns the
 * principals by digest. Throws an Error that names the line of the first mistake.
 */
export function parseTokenFile(text: string): ReadonlyMap<string, StoredPrincipal> {
  return parsePrincipalLines(text, {
    key: /^sha256:([0-9a-f]{64})$/,
    description:
      "`sha256:DIGEST tenant/subject/role+role [until=TIME]`; `reeve tokens create` prints such lines",
  });
}

import type { StoredPrincipal } from "./principal-lines.ts";
import { parsePrincipalLines } from "./principal-lines.ts";

/**
 * Parses a file of clients with certificates. Each line is `NAME tenant/subject/role+role [until=TIME]`, with a URI of the
 * certificate such as `spiffe://example.org/ci`, or `CN=` and its common name; empty lines and lines that start with `#` are
 * ignored. Returns the principals by name. Throws an Error that names the line of the first mistake.
 */
export function parseClientFile(text: string): ReadonlyMap<string, StoredPrincipal> {
  return parsePrincipalLines(text, {
    key: /^([A-Za-z][A-Za-z0-9+.-]*:\/\/\S+|CN=\S+)$/,
    description:
      "`NAME tenant/subject/role+role [until=TIME]`, where NAME is a URI such as spiffe://example.org/ci, or CN=name",
  });
}

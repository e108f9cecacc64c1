import type { X509Certificate } from "node:crypto";

/** An entry of the alternative names, as Node prints them: unusual values are JSON texts. */
const entry = /(?<kind>[A-Za-z0-9 ]+):(?:(?<quoted>"(?:[^"\\]|\\.)*")|(?<plain>[^",]*))(?:, |$)/y;

/** What a URI starts with. Its type in a certificate permits any text, such as that of a common name. */
const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/;

/** Returns the URIs of a certificate, and `CN=` with its common name if it has exactly one. */
export function namesOf(certificate: X509Certificate): readonly string[] {
  const { CN: commonName } = certificate.toLegacyObject().subject ?? {};
  const uris = urisIn(certificate.subjectAltName ?? "");
  return typeof commonName === "string" ? [...uris, `CN=${commonName}`] : uris;
}

/** Returns the URIs of alternative names. None if they cannot be parsed to the end. */
function urisIn(names: string): readonly string[] {
  const uris: string[] = [];
  entry.lastIndex = 0;
  while (entry.lastIndex < names.length) {
    const { kind, plain } = entry.exec(names)?.groups ?? {};
    if (kind === undefined) return [];
    // A quoted URI has characters that no URI has.
    if (kind === "URI" && plain !== undefined && scheme.test(plain)) uris.push(plain);
  }
  return uris;
}

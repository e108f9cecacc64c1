/** Returns the text of a body. Undefined: it is no UTF-8. */
export function decodeBody(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}

/** Returns the text of a body, without the byte order mark with which some senders begin. Undefined: it is no UTF-8. */
export function decodeBody(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    return undefined;
  }
}

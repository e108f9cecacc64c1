import type { Page } from "./page.ts";
import { Unreadable } from "./page.ts";

/** Returns the lines of a text in UTF-8, or in UTF-16 with a byte order mark. */
export function readText(bytes: Uint8Array): readonly Page[] {
  return [{ page: 0, lines: linesOf(decodeText(bytes)) }];
}

/** Throws an `Unreadable` for bytes that are no text. */
export function decodeText(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe
      ? "utf-16le"
      : first === 0xfe && second === 0xff
        ? "utf-16be"
        : "utf-8";
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch {
    // Reported below.
  }
  throw new Unreadable("encoding");
}

function linesOf(text: string): readonly string[] {
  return text.split(/\r\n|\r|\n/);
}

/** How many Latin characters make a token, by the common rule of thumb. */
export const charactersPerToken = 4;

/**
 * Returns the length of a text for a model, in Latin characters. A character of any other script counts as a whole token: no
 * tokenizer does much better.
 */
export function readingLength(text: string): number {
  let length = text.length;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > lastLatin && !isLatin(code)) length += charactersPerToken - 1;
  }
  return length;
}

/** Returns the same for a text in UTF-8. */
export function readingLengthOfBytes(bytes: Uint8Array): number {
  let length = 0;
  for (const byte of bytes) {
    if (byte < 0x80 || (byte >= 0xc2 && byte <= lastLatinLead)) length++;
    else if (byte > lastLatinLead) length += charactersPerToken;
  }
  return length;
}

const lastLatin = 0x024f;
/** The first byte of the last Latin characters that take two bytes. */
const lastLatinLead = 0xc9;

/** Matches Latin letters with additional marks, and typographic punctuation. */
function isLatin(code: number): boolean {
  return (code >= 0x1e00 && code <= 0x1eff) || (code >= 0x2000 && code <= 0x206f);
}

/** Latin characters of a token, the usual rule of thumb for text. */
export const charactersPerToken = 4;

/**
 * The length of a text as a model reads it, in Latin characters: one of any other script is a token by itself, with which
 * no tokenizer does much better.
 */
export function readingLength(text: string): number {
  let length = text.length;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > lastLatin && !isLatin(code)) length += charactersPerToken - 1;
  }
  return length;
}

/** The same of a text in UTF-8. */
export function readingLengthOfBytes(bytes: Uint8Array): number {
  let length = 0;
  for (const byte of bytes) {
    if (byte < 0x80 || (byte >= 0xc2 && byte <= lastLatinLead)) length++;
    else if (byte > lastLatinLead) length += charactersPerToken;
  }
  return length;
}

const lastLatin = 0x024f;
/** First byte of the last Latin characters of two bytes. */
const lastLatinLead = 0xc9;

/** Latin letters with further marks, and the punctuation of typographers. */
function isLatin(code: number): boolean {
  return (code >= 0x1e00 && code <= 0x1eff) || (code >= 0x2000 && code <= 0x206f);
}

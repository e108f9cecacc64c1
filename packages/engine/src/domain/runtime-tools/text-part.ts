const noteBytes = 100;

/** Returns the part of a text that starts at a character and fits into a result of `maxBytes`, with the offset of the rest. */
export function textPart(text: string, offset: number, maxBytes: number): string {
  // A character has at most three bytes in UTF-8, a pair of surrogates four.
  const maxCharacters = Math.max(1, Math.floor((maxBytes - noteBytes) / 3));
  const part = wellFormed(text.slice(offset, offset + maxCharacters));
  const end = offset + part.length;
  return end >= text.length
    ? part
    : `${part}\n[characters ${offset} to ${end} of ${text.length}; read on with offset ${end}]`;
}

/** Removes an unpaired surrogate from the end of a part. */
function wellFormed(part: string): string {
  return part.length > 1 && /[\uD800-\uDBFF]$/.test(part) ? part.slice(0, -1) : part;
}

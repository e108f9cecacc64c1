/** Returns the beginning of a text, at most `maxLength` UTF-16 units long, without splitting a character. */
export function firstCharacters(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return text.slice(0, isLowSurrogate(text, maxLength) ? maxLength - 1 : maxLength);
}

/** Returns the end of a text, at most `maxLength` UTF-16 units long, without splitting a character. */
export function lastCharacters(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const from = text.length - maxLength;
  return text.slice(isLowSurrogate(text, from) ? from + 1 : from);
}

/** Returns whether the unit at `index` is the second half of a surrogate pair. */
function isLowSurrogate(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff;
}

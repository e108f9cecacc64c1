/** The beginning of a text, at most `most` units long, none of its characters cut. */
export function firstCharacters(text: string, most: number): string {
  if (text.length <= most) return text;
  return text.slice(0, isLow(text, most) ? most - 1 : most);
}

/** The end of a text, at most `most` units long, none of its characters cut. */
export function lastCharacters(text: string, most: number): string {
  if (text.length <= most) return text;
  const from = text.length - most;
  return text.slice(isLow(text, from) ? from + 1 : from);
}

/** Whether the second half of a character stands at `index`. */
function isLow(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff;
}

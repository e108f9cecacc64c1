const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: false });

/**
 * `text` cut to at most `most` bytes of UTF-8, with a word about what is missing as far as there is room for it; never
 * within a character.
 */
export function truncateToBytes(text: string, most: number): string {
  if (text.length * 3 <= most) return text;
  const bytes = encoder.encode(text);
  if (bytes.length <= most) return text;
  const note = `\n[cut: ${bytes.length} bytes in all, the first ${most} shown]`;
  const told = note.length <= most ? note : "";
  let end = most - told.length;
  while (end > 0 && isContinuation(bytes[end])) end--;
  return decoder.decode(bytes.subarray(0, end)) + told;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000;
}

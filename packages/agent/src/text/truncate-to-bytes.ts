const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: false });

/**
 * Returns `text`, cut to at most `maxBytes` bytes of UTF-8. A cut text ends with a note about its full size, if the note fits.
 * Never splits a character.
 */
export function truncateToBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const bytes = encoder.encode(text);
  if (bytes.length <= maxBytes) return text;
  const note = `\n[cut: ${bytes.length} bytes in all, the first ${maxBytes} shown]`;
  const suffix = note.length <= maxBytes ? note : "";
  let end = maxBytes - suffix.length;
  while (end > 0 && isContinuation(bytes[end])) end--;
  return decoder.decode(bytes.subarray(0, end)) + suffix;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000;
}

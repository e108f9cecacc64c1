const decoder = new TextDecoder("utf-8", { fatal: false });

/** Returns the beginning and the end of a long text with `note` between them, in at most `maxBytes` of UTF-8. Cuts no character. */
export function preview(text: string, note: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  const between = `\n${note}\n`;
  const room = Math.max(0, maxBytes - Buffer.byteLength(between));
  // The beginning says the most; the end says how it came out.
  let head = Math.min(bytes.length, Math.ceil(room * 0.7));
  let tail = bytes.length - Math.max(0, Math.min(bytes.length - head, room - head));
  while (head > 0 && isContinuation(bytes[head])) head--;
  while (tail < bytes.length && isContinuation(bytes[tail])) tail++;
  return decoder.decode(bytes.subarray(0, head)) + between + decoder.decode(bytes.subarray(tail));
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000;
}

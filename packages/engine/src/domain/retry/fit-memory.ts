import { truncateToBytes } from "@reeve/agent/text/truncate-to-bytes";

/** What the key and the lengths of an entry take at most, besides its texts. */
const entryBytes = 16;

const encoder = new TextEncoder();

/**
 * Returns the entries of a shared memory with at most `maxBytes` in all. The largest values are cut, and say so; every key stays,
 * so that the model finds what there was.
 */
export function fitMemory(
  memory: ReadonlyMap<string, string>,
  maxBytes: number,
): Record<string, string> {
  const entries = [...memory].map(([key, value]) => ({
    key,
    value,
    keyBytes: encoder.encode(key).length + entryBytes,
    bytes: encoder.encode(value).length,
  }));
  const bytesAt = (limit: number) =>
    entries.reduce((sum, { keyBytes, bytes }) => sum + keyBytes + Math.min(bytes, limit), 0);
  let limit = Math.max(0, ...entries.map(({ bytes }) => bytes));
  while (limit > 0 && bytesAt(limit) > maxBytes) limit = Math.floor(limit * 0.9);
  return Object.fromEntries(entries.map(({ key, value }) => [key, truncateToBytes(value, limit)]));
}

import { Buffer } from "node:buffer";

/** A PNG of one pixel. */
const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);

/** Returns a PNG whose header says that it has this size. */
export function png(width = 1, height = 1): Uint8Array<ArrayBuffer> {
  const bytes = Uint8Array.from(pixel);
  const view = new DataView(bytes.buffer);
  view.setUint32(16, width);
  view.setUint32(20, height);
  return bytes;
}

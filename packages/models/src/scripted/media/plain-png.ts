import { createHash } from "node:crypto";
import { crc32, deflateSync } from "node:zlib";

const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

/** Returns a PNG of one color, which follows from `seed`. */
export function plainPng(
  { width, height }: { readonly width: number; readonly height: number },
  seed: string,
): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits for each sample, in colors of a palette.
  header.writeUInt8(8, 8);
  header.writeUInt8(3, 9);
  const color = createHash("sha256").update(seed).digest().subarray(0, 3);
  // Each row has a filter byte, and an index of the palette for each pixel.
  const rows = deflateSync(Buffer.alloc((width + 1) * height));
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("PLTE", color),
    chunk("IDAT", rows),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), content]);
  const around = Buffer.alloc(8);
  around.writeUInt32BE(content.length, 0);
  around.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([around.subarray(0, 4), named, around.subarray(4)]);
}

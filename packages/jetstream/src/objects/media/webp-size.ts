import type { ImageSize } from "./image-size.ts";
import { isAt, viewOf } from "./image-size.ts";

/** The size of the RIFF header with the start of the first chunk, as far as it has the size of the image. */
const headerBytes = 30;

/** Returns the size of a lossy, lossless, or extended WebP. Undefined: the header has none. */
export function webpSize(head: Uint8Array): ImageSize | undefined {
  if (head.length < headerBytes) return undefined;
  const view = viewOf(head);
  if (isAt(head, 12, "VP8 ") && isAt(head, 23, "\x9d\x01\x2a")) {
    return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
  }
  if (isAt(head, 12, "VP8L") && isAt(head, 20, "\x2f")) {
    const bits = view.getUint32(21, true);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (isAt(head, 12, "VP8X")) return { width: uint24(view, 24) + 1, height: uint24(view, 27) + 1 };
  return undefined;
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) + view.getUint8(at + 2) * 0x1_00_00;
}

import type { ImageSize } from "./image-size.ts";
import { isAt, viewOf } from "./image-size.ts";

/** The size of the smallest PNG: its signature, IHDR, and the frames of IDAT and IEND. */
const minBytes = 57;

/** Returns the size of a PNG. Undefined: the header has none, or nothing follows it. */
export function pngSize(head: Uint8Array): ImageSize | undefined {
  if (head.length < minBytes || !isAt(head, 12, "IHDR")) return undefined;
  const view = viewOf(head);
  return { width: view.getUint32(16), height: view.getUint32(20) };
}

import type { ImageSize } from "./image-size.ts";
import { viewOf } from "./image-size.ts";

/** The size of the signature and of the logical screen descriptor. */
const headerBytes = 13;

/** Returns the size of the logical screen of a GIF. Undefined: the header has none. */
export function gifSize(head: Uint8Array): ImageSize | undefined {
  if (head.length < headerBytes) return undefined;
  const view = viewOf(head);
  return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

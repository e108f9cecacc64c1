import type { ImageSize } from "./image-size.ts";
import { viewOf } from "./image-size.ts";

/**
 * Returns the size of a JPEG, which its first frame header states. Undefined: these bytes have no frame header. Each step moves forward and
 * copies nothing, so that the time is linear in the bytes given.
 */
export function jpegSize(head: Uint8Array): ImageSize | undefined {
  const view = viewOf(head);
  let at = 2;
  while (at + 4 <= head.length) {
    if (head[at] !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) at += 1;
    else if (isStandalone(marker)) at += 2;
    else if (marker === scan || marker === end) return undefined;
    else if (isFrame(marker)) return frameSize(view, at);
    else {
      const length = view.getUint16(at + 2);
      if (length < 2) return undefined;
      at += 2 + length;
    }
  }
  return undefined;
}

const scan = 0xda;
const end = 0xd9;

/** Markers without a segment: TEM and the restart markers. */
function isStandalone(marker: number): boolean {
  return marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7);
}

/** SOF0 to SOF15; the others of this range are DHT, JPG, and DAC. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}

function frameSize(view: DataView, at: number): ImageSize | undefined {
  if (at + 9 > view.byteLength) return undefined;
  return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
}

/** The width and height that the header of an image states, in pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Returns whether text is at a place of a file. */
export function isAt(head: Uint8Array, at: number, text: string): boolean {
  if (at + text.length > head.length) return false;
  for (let index = 0; index < text.length; index++) {
    if (head[at + index] !== text.charCodeAt(index)) return false;
  }
  return true;
}

/** Returns a view of the bytes of a file. */
export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

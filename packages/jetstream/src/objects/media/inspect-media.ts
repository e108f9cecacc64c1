import { modalityOf } from "@reeve/contracts/content/media";
import { gifSize } from "./gif-size.ts";
import type { ImageSize } from "./image-size.ts";
import { isAt } from "./image-size.ts";
import { jpegSize } from "./jpeg-size.ts";
import { pngSize } from "./png-size.ts";
import { webpSize } from "./webp-size.ts";

/** How many bytes of a file are enough to tell what it is. */
export const headBytes = 256 * 1024;
/** The maximum width and height of an image, in pixels. Providers refuse larger ones. */
const maxPixels = 8_000;

/** The size of an image in pixels; 0 of other files. */
export type MediaSize = ImageSize;

/** What is wrong with a file: a constant, and a description. */
export type MediaProblem = readonly [reason: string, description: string];

/** Checks by the start of a file that it has its media type, and returns its size. Images are not decoded. */
export function inspectMedia(head: Uint8Array, mediaType: string): MediaSize | MediaProblem {
  const actual = mediaTypeOf(head);
  if (actual !== mediaType) {
    const found =
      actual === undefined ? "its content is of another type" : `its content is ${actual}`;
    return ["MALFORMED", `is not ${mediaType}: ${found}; send the type of the content`];
  }
  if (modalityOf(mediaType) !== "image") return { width: 0, height: 0 };
  const size = sizes.get(mediaType)?.(head);
  if (size === undefined || size.width === 0 || size.height === 0) {
    return [
      "MALFORMED",
      "is an image whose header has no size, or that ends with it; store it anew",
    ];
  }
  const { width, height } = size;
  if (Math.max(width, height) <= maxPixels) return size;
  const description = `is an image of ${width} × ${height} pixels; the limit is ${maxPixels} in each direction; make it smaller`;
  return ["TOO_LARGE", description];
}

const sizes: ReadonlyMap<string, (head: Uint8Array) => ImageSize | undefined> = new Map([
  ["image/png", pngSize],
  ["image/jpeg", jpegSize],
  ["image/gif", gifSize],
  ["image/webp", webpSize],
]);

/** The bytes with which files of a type begin. */
const signatures: readonly (readonly [type: string, start: string])[] = [
  ["image/png", "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", "\xff\xd8\xff"],
  ["image/gif", "GIF87a"],
  ["image/gif", "GIF89a"],
  ["audio/mpeg", "ID3"],
  // Frames of layer III: MPEG 1, 2, and 2.5, without and with a checksum.
  ["audio/mpeg", "\xff\xfb"],
  ["audio/mpeg", "\xff\xfa"],
  ["audio/mpeg", "\xff\xf3"],
  ["audio/mpeg", "\xff\xf2"],
  ["audio/mpeg", "\xff\xe3"],
  ["audio/mpeg", "\xff\xe2"],
  ["application/pdf", "%PDF-"],
];

/** The forms of RIFF: their names follow the length of the file. */
const riffForms: readonly (readonly [type: string, form: string])[] = [
  ["image/webp", "WEBP"],
  ["audio/wav", "WAVE"],
];

/** Returns the media type of a file by its first bytes. Undefined: it is none of those that models read and generate. */
export function mediaTypeOf(head: Uint8Array): string | undefined {
  if (isAt(head, 0, "RIFF")) return riffForms.find(([, form]) => isAt(head, 8, form))?.[0];
  return signatures.find(([, start]) => isAt(head, 0, start))?.[0];
}

import { modalityOf } from "@reeve/contracts/content/media";
import { imageSize } from "image-size";

/** How many bytes of a file are enough to tell what it is. */
export const headBytes = 256 * 1024;
/** The maximum width and height of an image, in pixels. Providers refuse larger ones. */
const maxPixels = 8_000;

/** The size of an image in pixels; 0 of other files. */
export interface MediaSize {
  readonly width: number;
  readonly height: number;
}

/** What is wrong with a file: a constant, and a description. */
export type MediaProblem = readonly [reason: string, description: string];

/** Checks by the start of a file that it has its media type, and returns its size. Images are not decoded. */
export function inspectMedia(head: Uint8Array, mediaType: string): MediaSize | MediaProblem {
  const actual = typeOf(head);
  if (actual !== mediaType) {
    const found =
      actual === undefined ? "its content is of another type" : `its content is ${actual}`;
    return ["MALFORMED", `is not ${mediaType}: ${found}; send the type of the content`];
  }
  if (modalityOf(mediaType) !== "image") return { width: 0, height: 0 };
  const size = sizeOf(head);
  if (size === undefined || size.width === 0 || size.height === 0) {
    return ["MALFORMED", "is an image whose header has no size; store it anew"];
  }
  const { width, height } = size;
  if (Math.max(width, height) <= maxPixels) return size;
  const description = `is an image of ${width} × ${height} pixels; the limit is ${maxPixels} in each direction; make it smaller`;
  return ["TOO_LARGE", description];
}

function sizeOf(head: Uint8Array): MediaSize | undefined {
  try {
    const { width, height } = imageSize(head);
    return { width, height };
  } catch {
    return undefined;
  }
}

/** The bytes with which files of a type begin; `at` is where. */
const signatures: readonly (readonly [type: string, at: number, text: string])[] = [
  ["image/png", 0, "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", 0, "\xff\xd8\xff"],
  ["image/gif", 0, "GIF87a"],
  ["image/gif", 0, "GIF89a"],
  ["image/webp", 8, "WEBP"],
  ["audio/wav", 8, "WAVE"],
  ["audio/mpeg", 0, "ID3"],
  ["audio/mpeg", 0, "\xff\xfb"],
  ["audio/mpeg", 0, "\xff\xf3"],
  ["audio/mpeg", 0, "\xff\xf2"],
  ["application/pdf", 0, "%PDF-"],
];

function typeOf(head: Uint8Array): string | undefined {
  const start = Buffer.from(head.subarray(0, 16)).toString("latin1");
  return signatures.find(([, at, text]) => start.startsWith(text, at))?.[0];
}

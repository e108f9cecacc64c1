import type { MediaRequest } from "../../ports/media-generator.ts";
import { maxFileBytes } from "../../ports/media-generator.ts";

/** How many copies of an answer a provider holds: its chunks, as text, as the strings in it, and the files. */
const copies = 4;
/** What an answer has besides its files. */
const otherBytes = 64 * 1024;
/** Pixels of an image whose size the provider chooses. */
const defaultPixels = 1_536 * 1_024;
const bytesPerPixel = 4;
/** A character of speech takes about 70 ms. */
const bytesPerCharacter = { mp3: 2_048, wav: 4_096 } as const;

/** Returns how much memory the answer to a request may take, in bytes: an estimate, by the size of what is asked for. */
export function memoryFor(request: MediaRequest): number {
  return copies * (filesOf(request) * Math.min(maxFileBytes, bytesOfFile(request)) + otherBytes);
}

function filesOf(request: MediaRequest): number {
  return request.kind === "image" ? request.count : 1;
}

function bytesOfFile(request: MediaRequest): number {
  if (request.kind === "speech") return request.text.length * bytesPerCharacter[request.format];
  const [, width, height] = /^(\d+)x(\d+)$/.exec(request.size ?? "") ?? [];
  return (Number(width) * Number(height) || defaultPixels) * bytesPerPixel;
}

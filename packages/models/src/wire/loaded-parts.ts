import { Buffer } from "node:buffer";
import { fileNote, modalityOf } from "@reeve/contracts/content/media";
import type { ModelRequest, PromptMessage, PromptPart } from "@reeve/engine/ports/model-provider";

/** A part of a message of the user with its bytes. */
export type LoadedPart =
  | { readonly kind: "text"; readonly text: string }
  | LoadedImage
  | (LoadedFile & { readonly kind: "audio" | "pdf" });

interface LoadedFile {
  readonly mediaType: string;
  readonly name: string;
  readonly base64: string;
}

export interface LoadedImage extends LoadedFile {
  readonly kind: "image";
}

/** The bytes of the files of a request. */
export type LoadedFiles = ModelRequest["files"];

/**
 * Returns a message of the user as parts: its text, its own parts, and the notes of the runtime. Empty texts are left out. A file that was deleted, or is
 * damaged, is a note.
 */
export function loadedParts(
  { text, parts = [], notes = [] }: Extract<PromptMessage, { role: "user" }>,
  files: LoadedFiles,
): readonly LoadedPart[] {
  const own = parts.map((part) => (part.kind === "text" ? part : loaded(part, files)));
  return [...texts([text]), ...own, ...texts(notes)].filter(
    (part) => part.kind !== "text" || part.text !== "",
  );
}

function texts(all: readonly string[]) {
  return all.map((text) => ({ kind: "text", text }) as const);
}

/** Returns the images of a result with their bytes. The text of the result names those that were deleted. */
export function loadedImages(
  { files: given = [] }: Extract<PromptMessage, { role: "tool" }>,
  files: LoadedFiles,
): readonly LoadedImage[] {
  return given
    .map((file) => loaded(file, files))
    .filter((part): part is LoadedImage => part.kind === "image");
}

function loaded(file: Extract<PromptPart, { kind: "file" }>, files: LoadedFiles): LoadedPart {
  const { artifactId, mediaType, name } = file;
  const bytes = files?.get(artifactId);
  const modality = modalityOf(mediaType);
  if (bytes === undefined)
    return { kind: "text", text: fileNote(file, "it was deleted, or is damaged") };
  if (modality === undefined || modality === "text") return { kind: "text", text: fileNote(file) };
  return { kind: modality, mediaType, name, base64: Buffer.from(bytes).toString("base64") };
}

/** Returns a file as a URL that has its bytes. */
export function dataUrl({ mediaType, base64 }: LoadedFile): string {
  return `data:${mediaType};base64,${base64}`;
}

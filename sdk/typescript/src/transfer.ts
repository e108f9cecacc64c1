import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { Artifact, UploadArtifactRequestSchema } from "#contracts/artifact";
import { ArtifactSchema } from "#contracts/artifact";
import type { FileEntry } from "#contracts/tool";
import type { CallOptions } from "./call-options.ts";
import { ReeveError } from "./reeve-error.ts";
import type { Requests } from "./requests.ts";

/** Bytes in memory, or bytes as they arrive, in chunks of any size. */
export type Content = Uint8Array | AsyncIterable<Uint8Array>;

/** A file to store as an artifact. */
export interface Upload {
  /** File name, without folders. */
  readonly name: string;
  /** Media type. Default: `application/octet-stream`. */
  readonly mediaType?: string;
  readonly content: Content;
}

/** The bytes of a stored file. They can be read once; to end the transfer early, leave the loop or call `return()`. */
export type Chunks = AsyncGenerator<Uint8Array, void, undefined>;

/** An artifact and its bytes. */
export interface Download {
  readonly artifact: Artifact;
  readonly chunks: Chunks;
}

/** A file in the workspace of a run, and its bytes. */
export interface FileDownload {
  readonly file: FileEntry;
  readonly chunks: Chunks;
}

type Part = MessageInitShape<typeof UploadArtifactRequestSchema>;

const chunkBytes = 256 * 1024;

/** Uploads a file and returns its artifact. Sends it only once, because the content may be gone afterwards. */
export async function uploadArtifact(
  requests: Requests,
  upload: Upload,
  options: CallOptions,
): Promise<Artifact> {
  const { artifact } = await requests.once(
    ({ artifacts }, call) => artifacts.uploadArtifact(uploadParts(upload), call),
    options,
    requests.settings.transferTimeoutMs,
  );
  return artifact ?? create(ArtifactSchema);
}

/** Yields the messages of an upload: a header, then chunks of at most 256 KiB. */
async function* uploadParts({ name, mediaType = "", content }: Upload): AsyncGenerator<Part> {
  yield { part: { case: "header", value: { name, mediaType } } };
  const pieces = content instanceof Uint8Array ? [content] : content;
  for await (const piece of pieces) {
    for (let from = 0; from < piece.length; from += chunkBytes) {
      yield { part: { case: "chunk", value: piece.subarray(from, from + chunkBytes) } };
    }
  }
}

/** A message of a download: first the description of the file, then its bytes. */
interface DownloadMessage<Description extends object> {
  readonly part:
    | { readonly case: string; readonly value: Description | Uint8Array }
    | { readonly case: undefined };
}

/** Reads the description that opens a download. `name` is the name of the file in errors. */
export async function openDownload<Description extends object>(
  messages: AsyncGenerator<DownloadMessage<Description>, void, undefined>,
  name: string,
): Promise<{ readonly description: Description; readonly chunks: Chunks }> {
  const parts = partsOf(messages);
  const first = await parts.next();
  if (first.done === true || first.value instanceof Uint8Array) {
    throw ReeveError.lost(`the download of ${name} has no description`);
  }
  // Only bytes follow the description.
  return { description: first.value, chunks: parts as Chunks };
}

async function* partsOf<Description extends object>(
  messages: AsyncGenerator<DownloadMessage<Description>, void, undefined>,
): AsyncGenerator<Description | Uint8Array, void, undefined> {
  for await (const { part } of messages) if (part.case !== undefined) yield part.value;
}

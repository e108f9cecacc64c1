import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CallOptions } from "@connectrpc/connect";
import type { Services } from "./connection.ts";
import type { Artifact, UploadArtifactRequestSchema } from "./gen/reeve/artifact/v1/artifact_pb.ts";
import { ReeveError } from "./reeve-error.ts";

/** A file to be stored. */
export interface Upload {
  /** Its name, without folders. */
  readonly name: string;
  /** Its media type. Default: `application/octet-stream`. */
  readonly mediaType?: string;
  readonly content: Uint8Array | AsyncIterable<Uint8Array>;
}

/** A stored file: what it is, then its bytes. They can be read once; whoever stops early ends the transfer. */
export interface Download {
  readonly artifact: Artifact;
  readonly chunks: AsyncIterable<Uint8Array>;
}

type Part = MessageInitShape<typeof UploadArtifactRequestSchema>;

const chunkBytes = 256 * 1024;

/** The messages of an upload, whatever the size of the pieces in which the content comes. */
export async function* uploadParts({
  name,
  mediaType = "",
  content,
}: Upload): AsyncGenerator<Part> {
  yield { part: { case: "header", value: { name, mediaType } } };
  const pieces = content instanceof Uint8Array ? [content] : content;
  for await (const piece of pieces) {
    for (let from = 0; from < piece.length; from += chunkBytes) {
      yield { part: { case: "chunk", value: piece.subarray(from, from + chunkBytes) } };
    }
  }
}

export async function openDownload(
  { artifacts }: Pick<Services, "artifacts">,
  artifactId: string,
  options: CallOptions,
): Promise<Download> {
  const messages = chunked(artifacts.downloadArtifact({ artifactId }, options));
  const first = await messages.next();
  if (first.done === true || first.value instanceof Uint8Array) {
    throw ReeveError.lost(`artifact ${artifactId} came without a description`);
  }
  // After the description there are only bytes.
  return { artifact: first.value, chunks: messages as AsyncGenerator<Uint8Array> };
}

async function* chunked(
  messages: ReturnType<Services["artifacts"]["downloadArtifact"]>,
): AsyncGenerator<Artifact | Uint8Array> {
  try {
    for await (const { part } of messages) {
      if (part.case !== undefined) yield part.value;
    }
  } catch (error) {
    throw ReeveError.from(error);
  }
}

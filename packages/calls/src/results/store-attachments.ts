import { create } from "@bufbuild/protobuf";
import type { FilePart } from "@reeve/contracts/content/parts";
import { FilePartSchema } from "@reeve/contracts/content/parts";
import { modalityOf } from "@reeve/contracts/content/media";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import { inspectMedia } from "@reeve/jetstream/objects/inspect-media";
import type { Attachment } from "../ports/tool.ts";
import type { StoredArtifact, StorePorts } from "./store-part.ts";
import { storePart } from "./store-part.ts";

/** How many attachments a result may have: the model reads about each of them. */
const maxAttachments = 8;
/** The size of an image that a model reads: a conversation may have many. */
const maxImageBytes = 4 * 1024 * 1024;

/** The attachments of a result, once they are stored. */
export interface StoredAttachments {
  /** What the model reads about them, after the text of the result. Empty: there are none. */
  readonly note: string;
  /** The first one that was stored. */
  readonly artifact?: StoredArtifact;
  /** The images among them that a model can read. */
  readonly files: readonly FilePart[];
}

/** Stores the attachments of a result. The note says which the store did not accept. Throws only when `signal` aborts. */
export async function storeAttachments(
  request: ToolCallRequest,
  attachments: readonly Attachment[],
  ports: StorePorts,
  signal: AbortSignal,
): Promise<StoredAttachments> {
  if (attachments.length === 0) return { note: "", files: [] };
  const notes: string[] = [];
  const files: FilePart[] = [];
  let artifact: StoredArtifact | undefined;
  for (const { label, mediaType, bytes } of attachments.slice(0, maxAttachments)) {
    const key = label.replaceAll(/[^a-z0-9]+/gi, "-");
    const stored = await storePart(request, { key, mediaType, bytes }, ports, signal);
    if (stored.kind === "stored") {
      artifact ??= { artifactId: stored.artifactId, sha256: stored.sha256 };
      notes.push(`${label} is ${stored.artifactId}`);
      const image = imageOf(stored, { label, mediaType, bytes });
      if (image !== undefined) files.push(image);
    } else {
      notes.push(`${label} could not be stored`);
      // A store that failed once may take as long for each of the others.
      break;
    }
  }
  const left = attachments.length - notes.length;
  if (left > 0) notes.push(`${left} more were not stored`);
  return {
    note: `\n[artifacts: ${notes.join(", ")}]`,
    files,
    ...(artifact && { artifact }),
  };
}

/** Returns an attachment as an image that a model can read. Undefined: it is none, or is too large. */
function imageOf(
  { artifactId, sha256, isEarlier }: StoredArtifact & { readonly isEarlier: boolean },
  { label, mediaType, bytes }: Attachment,
): FilePart | undefined {
  const isImage = modalityOf(mediaType) === "image" && bytes.length <= maxImageBytes;
  // Another attempt of the call stored another image, whose size is not known here.
  if (!isImage || isEarlier) return undefined;
  const size = inspectMedia(bytes, mediaType);
  if (!("width" in size)) return undefined;
  const sizeBytes = bytes.length;
  return create(FilePartSchema, { artifactId, sha256, mediaType, name: label, sizeBytes, ...size });
}

import type { ToolCallRequest } from "@reeve/contracts/tool";
import type { Attachment } from "../ports/tool.ts";
import type { StoredArtifact, StorePorts } from "./store-part.ts";
import { storePart } from "./store-part.ts";

/** How many attachments a result may have: the model reads about each of them. */
const maxAttachments = 8;

/** The attachments of a result, once they are stored. */
export interface StoredAttachments {
  /** What the model reads about them, after the text of the result. Empty: there are none. */
  readonly note: string;
  /** The first one that was stored. */
  readonly artifact?: StoredArtifact;
}

/** Stores the attachments of a result. The note says which the store did not accept. Throws only when `signal` aborts. */
export async function storeAttachments(
  request: ToolCallRequest,
  attachments: readonly Attachment[],
  ports: StorePorts,
  signal: AbortSignal,
): Promise<StoredAttachments> {
  if (attachments.length === 0) return { note: "" };
  const notes: string[] = [];
  let artifact: StoredArtifact | undefined;
  for (const { label, mediaType, bytes } of attachments.slice(0, maxAttachments)) {
    const key = label.replaceAll(/[^a-z0-9]+/gi, "-");
    const stored = await storePart(request, { key, mediaType, bytes }, ports, signal);
    if (stored.kind === "stored") {
      artifact ??= { artifactId: stored.artifactId, sha256: stored.sha256 };
      notes.push(`${label} is ${stored.artifactId}`);
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
    ...(artifact && { artifact }),
  };
}

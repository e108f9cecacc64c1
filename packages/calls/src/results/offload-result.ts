import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "@bufbuild/protobuf";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import { ResultExtent } from "@reeve/contracts/tool";
import type { CallResult } from "../ports/tool.ts";
import { callSettings } from "../settings/tool-settings.ts";
import { fitRecord } from "./fit-record.ts";
import { preview } from "./preview.ts";
import { fitsMessage } from "./record-size.ts";
import { storeAttachments } from "./store-attachments.ts";
import type { StoredArtifact, StoredPart, StorePorts } from "./store-part.ts";
import { storePart } from "./store-part.ts";

/**
 * Stores as artifacts what the model cannot read of a result: a text that is too long, of which the model reads a part that says
 * where the rest is; a record that is too large; and attachments. `note` is put before the content and is never cut. A store
 * that does not accept them costs the rest of the result, never the call; a store that is away is waited for. Throws only when `signal` aborts.
 */
export async function offloadResult(
  request: ToolCallRequest,
  { attachments = [], note = "", ...result }: CallResult & { readonly note?: string },
  ports: StorePorts,
  signal: AbortSignal,
): Promise<CallResult> {
  const { content, structured, ...others } = result;
  const maxBytes = callSettings(request.settings).resultBytes - Buffer.byteLength(note);
  const fits = structured === undefined || fitsMessage(structured, maxBytes);
  const isLong = Buffer.byteLength(content) > maxBytes;
  const isRecord = (isLong || !fits) && structured !== undefined && isJsonOf(content, structured);
  const records = fits || isRecord ? [] : [recordPart(structured)];
  const stored = await storeAttachments(request, [...records, ...attachments], ports, signal);
  const room = maxBytes - Buffer.byteLength(stored.note);
  const files = stored.files.length > 0 ? { files: stored.files } : {};
  if (Buffer.byteLength(content) <= room) {
    const { artifact } = stored;
    return {
      ...others,
      ...files,
      content: note + content + stored.note,
      ...(fits && structured !== undefined && { structured }),
      // The text of a record that has it whole is no loss.
      ...(!fits && !isRecord && { extent: ResultExtent.RECORD_DROPPED }),
      ...(artifact && { artifact }),
    };
  }
  const bytes = Buffer.from(content);
  const mediaType = isRecord ? "application/json" : "text/plain; charset=utf-8";
  const part = await storePart(request, { key: "", mediaType, bytes }, ports, signal);
  const where = whereIsRest(part, bytes.length, request.settings?.cannotRetrieve ?? false);
  const record = isRecord && stored.note === "" ? fittedRecord(structured, where, room) : undefined;
  const artifact = part.kind === "stored" ? artifactOf(part) : stored.artifact;
  const cut = record ?? { content: preview(content, where, room) + stored.note };
  return {
    ...others,
    ...files,
    ...cut,
    extent: ResultExtent.PART,
    content: note + cut.content,
    ...(artifact && { artifact }),
  };
}

function artifactOf({ artifactId, sha256 }: StoredArtifact): StoredArtifact {
  return { artifactId, sha256 };
}

function whereIsRest(part: StoredPart, size: number, cannotRetrieve: boolean): string {
  if (part.kind === "lost")
    return `[${size} bytes in all; the rest could not be stored: ${part.reason}]`;
  if (cannotRetrieve) return `[${size} bytes in all, kept as artifact ${part.artifactId}]`;
  const way = `call retrieve_artifact with artifact_id ${part.artifactId} to read`;
  return part.isEarlier
    ? `[${size} bytes in all; ${way} what an earlier attempt of this call gave]`
    : `[${size} bytes in all; ${way} the rest]`;
}

function recordPart(structured: JsonObject) {
  const bytes = Buffer.from(JSON.stringify(structured));
  return { label: "the structured result", mediaType: "application/json", bytes };
}

/** Whether a text is the JSON of a record and nothing else. */
function isJsonOf(content: string, structured: JsonObject): boolean {
  if (!content.trimStart().startsWith("{")) return false;
  try {
    return isDeepStrictEqual(JSON.parse(content), structured);
  } catch {
    return false;
  }
}

/** A record stays a record, so that code that reads its fields finds them. */
function fittedRecord(record: JsonObject, note: string, maxBytes: number) {
  const noteBytes = Buffer.byteLength(JSON.stringify({ offloaded: note }));
  const fitting = fitRecord(record, maxBytes - noteBytes);
  if (fitting === undefined) return undefined;
  const structured = { ...fitting, offloaded: note };
  return {
    content: JSON.stringify(structured),
    ...(fitsMessage(structured, maxBytes) && { structured }),
  };
}

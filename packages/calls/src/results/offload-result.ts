import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "@bufbuild/protobuf";
import type { FileChange, ToolCallRequest } from "@reeve/contracts/tool";
import { fitRecord } from "./fit-record.ts";
import { preview } from "./preview.ts";
import { fitsMessage } from "./record-size.ts";
import { callSettings } from "../settings/tool-settings.ts";
import type { ToolhostPorts } from "../ports/toolhost-ports.ts";
import { keepExtras } from "./keep-extras.ts";
import type { Kept } from "./keep-part.ts";
import { keepPart } from "./keep-part.ts";
import type { Performed } from "../execute/performed.ts";

/** A result and what there is to say about its surroundings. */
export interface Noted extends Performed {
  /** Stands before the content, whatever is left of that. */
  readonly note?: string;
  /** See `ToolResultMetadata`. */
  readonly lostChanges?: readonly FileChange[];
  readonly workspaceRevision?: number;
}

/** A result as the model gets it. */
export interface Shown extends Omit<Noted, "attachments" | "note"> {
  /** The artifact that holds what `content` does not show. Undefined: there is no more. */
  readonly artifactId?: string;
}

/**
 * Keeps what the model cannot read of a result as artifacts: a text that is too long, of which it is shown a part that
 * says where the rest is, a record that is too large, and what is no text at all. A store that does not take them costs
 * the rest of the result, never the call; throws only when `signal` aborts.
 */
export async function offloadResult(
  request: ToolCallRequest,
  { attachments = [], note = "", ...performed }: Noted,
  ports: Pick<ToolhostPorts, "artifacts" | "keepMs" | "log">,
  signal: AbortSignal,
): Promise<Shown> {
  const { content, structured, ...others } = performed;
  const maxBytes = callSettings(request.settings).resultBytes - Buffer.byteLength(note);
  const fits = structured === undefined || fitsMessage(structured, maxBytes);
  const isLong = Buffer.byteLength(content) > maxBytes;
  const isRecord = (isLong || !fits) && structured !== undefined && says(content, structured);
  const records = fits || isRecord ? [] : [recordPart(structured)];
  const extras = await keepExtras(request, [...records, ...attachments], ports, signal);
  const room = maxBytes - Buffer.byteLength(extras.note);
  if (Buffer.byteLength(content) <= room) {
    const { artifactId } = extras;
    return {
      ...others,
      content: note + content + extras.note,
      ...(fits && structured !== undefined && { structured }),
      ...(artifactId !== undefined && { artifactId }),
    };
  }
  const bytes = Buffer.from(content);
  const mediaType = isRecord ? "application/json" : "text/plain; charset=utf-8";
  const kept = await keepPart(request, { key: "", mediaType, bytes }, ports, signal);
  const rest = noteOn(kept, bytes.length);
  const shown = isRecord && extras.note === "" ? fittedRecord(structured, rest, room) : undefined;
  const artifactId = kept.kind === "kept" ? kept.artifactId : extras.artifactId;
  const cut = shown ?? { content: preview(content, rest, room) + extras.note };
  return {
    ...others,
    ...cut,
    content: note + cut.content,
    ...(artifactId !== undefined && { artifactId }),
  };
}

function noteOn(kept: Kept, size: number): string {
  if (kept.kind === "lost")
    return `[${size} bytes in all; the rest could not be kept: ${kept.reason}]`;
  const way = `call retrieve_artifact with artifact_id ${kept.artifactId} to read`;
  return kept.isEarlier
    ? `[${size} bytes in all; ${way} what an earlier attempt of this call gave]`
    : `[${size} bytes in all; ${way} the rest]`;
}

function recordPart(structured: JsonObject) {
  const bytes = Buffer.from(JSON.stringify(structured));
  return { label: "the structured result", mediaType: "application/json", bytes };
}

/** Whether a text is nothing but the JSON of a record. */
function says(content: string, structured: JsonObject): boolean {
  if (!content.trimStart().startsWith("{")) return false;
  try {
    return isDeepStrictEqual(JSON.parse(content), structured);
  } catch {
    return false;
  }
}

/** A record stays one, so that whoever reads fields finds them. */
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

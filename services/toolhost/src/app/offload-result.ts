import type { JsonObject } from "@bufbuild/protobuf";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import { Failure } from "@reeve/platform/failure";
import { fitRecord } from "../domain/fit-record.ts";
import { preview } from "../domain/preview.ts";
import { callSettings } from "../domain/tool-settings.ts";
import type { ToolhostPorts } from "../ports/toolhost-ports.ts";
import type { Performed } from "./perform-call.ts";

/** A result as the model gets it. */
export interface Shown extends Performed {
  /** The artifact that holds the whole of it. Undefined: it is shown as a whole. */
  readonly artifactId?: string;
}

/** What the word about the artifact may take within a record. */
const noteBytes = 300;

/**
 * Keeps a result that is larger than the model reads as an artifact, and shows a part of it that says where the rest is.
 * The same call always makes the same artifact. A store that does not take it costs the rest of the result, never the call.
 */
export async function offloadResult(
  request: ToolCallRequest,
  performed: Performed,
  { artifacts, log }: Pick<ToolhostPorts, "artifacts" | "log">,
  signal: AbortSignal,
): Promise<Shown> {
  const { content, structured, ...rest } = performed;
  const mostBytes = callSettings(request.settings).resultBytes;
  const size = Buffer.byteLength(content);
  const isRecord = structured !== undefined && JSON.stringify(structured) === content;
  if (size <= mostBytes) {
    const isSmall =
      structured !== undefined && Buffer.byteLength(JSON.stringify(structured)) <= mostBytes;
    return { ...rest, content, ...(isSmall && { structured }) };
  }
  let artifactId: string | undefined;
  let note: string;
  try {
    artifactId = await keep(request, content, { isRecord, artifacts }, signal);
    note = `[${size} bytes in all; call retrieve_artifact with artifact_id ${artifactId} to read the rest]`;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    log.warn({ err: error, callId: request.call?.callId }, "large result could not be kept");
    note = `[${size} bytes in all; the rest could not be kept: ${error.message}]`;
  }
  const shown = isRecord ? fittedRecord(structured, note, mostBytes) : undefined;
  return {
    ...rest,
    ...(shown ?? { content: preview(content, note, mostBytes) }),
    ...(artifactId !== undefined && { artifactId }),
  };
}

async function keep(
  { tenant, runId, call }: ToolCallRequest,
  content: string,
  { isRecord, artifacts }: { readonly isRecord: boolean } & Pick<ToolhostPorts, "artifacts">,
  signal: AbortSignal,
): Promise<string> {
  const draft = {
    name: `${call?.name ?? "tool"}-result.${isRecord ? "json" : "txt"}`,
    mediaType: isRecord ? "application/json" : "text/plain; charset=utf-8",
    runId,
    idempotencyKey: `result:${call?.callId ?? ""}`,
  };
  const { artifactId } = await artifacts.put(tenant, draft, once(Buffer.from(content)), signal);
  return artifactId;
}

/** A record stays one, so that whoever reads fields finds them. */
function fittedRecord(record: JsonObject, note: string, mostBytes: number) {
  const fitting = fitRecord(record, mostBytes - noteBytes);
  if (fitting === undefined) return undefined;
  const structured = { ...fitting, offloaded: note };
  return { structured, content: JSON.stringify(structured) };
}

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}

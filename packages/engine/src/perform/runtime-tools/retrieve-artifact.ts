import type { JsonObject } from "@bufbuild/protobuf";
import type { Artifact } from "@reeve/contracts/artifact";
import { limitsOf } from "../../domain/budget/limits.ts";
import type { RunState } from "../../domain/state/run-state.ts";
import type { ArtifactReader } from "../../ports/run-ports.ts";

const defaultBytes = 20_000;
/** Room for the line below a part. */
const noteBytes = 200;

/** Returns a part of an artifact of the run as text, from `offset` on, with a note that says how to read on. `resultBytes` defaults to the limit of the run. */
export async function retrieveArtifact(
  state: RunState,
  args: JsonObject,
  {
    artifacts,
    resultBytes = limitsOf(state).resultBytes,
  }: ArtifactReader & { readonly resultBytes?: number },
  signal: AbortSignal,
): Promise<{ readonly content: string; readonly isError: boolean }> {
  const artifactId = typeof args["artifact_id"] === "string" ? args["artifact_id"] : "";
  if (state.withheld.has(artifactId)) {
    const content = `a guard withholds the artifact "${artifactId}": it has a result that the guard refused or changed, or checked only a part of`;
    return { content, isError: true };
  }
  const tenant = state.head.created?.tenant ?? "";
  const artifact = /^art_[a-z0-9]{16,64}$/.test(artifactId)
    ? await find(state, tenant, artifactId, artifacts, signal)
    : undefined;
  if (artifact === undefined || !isOfRun(state, artifact)) {
    const known = [...state.offloaded].join(", ");
    const content = `there is no artifact "${artifactId}" of this run; results were kept as: ${known === "" ? "none" : known}`;
    return { content, isError: true };
  }
  const offset = typeof args["offset"] === "number" ? args["offset"] : 0;
  const maxTextBytes = Math.max(1, resultBytes - noteBytes);
  const limit = Math.min(
    typeof args["limit"] === "number" ? args["limit"] : defaultBytes,
    maxTextBytes,
  );
  const read = await part(
    artifacts.read(tenant, artifactId, signal),
    offset,
    limit + maxCharacterBytes,
  );
  const { text, taken } = decoded(read, limit, maxTextBytes);
  const total = artifact.sizeBytes;
  const end = Math.min(offset, total) + taken;
  const note = `[bytes ${Math.min(offset, total)} to ${end} of ${total}${end < total ? `; read on with offset ${end}` : ""}]`;
  return { content: `${text}\n${note}`, isError: false };
}

/** Returns an artifact. One of which the run knows was stored, so that a server that lacks it is behind. */
function find(
  state: RunState,
  tenant: string,
  artifactId: string,
  artifacts: ArtifactReader["artifacts"],
  signal: AbortSignal,
): Promise<Artifact | undefined> {
  return isKnown(state, artifactId)
    ? artifacts.getStored(tenant, artifactId, signal)
    : artifacts.get(tenant, artifactId, signal);
}

function isKnown({ head: { created }, offloaded }: RunState, artifactId: string): boolean {
  const isGiven = created?.files.some((file) => file.artifactId === artifactId) === true;
  return isGiven || offloaded.has(artifactId);
}

/** Whether the run created the artifact or was given it. A model may not read the tenant's other artifacts. */
function isOfRun(state: RunState, artifact: Artifact): boolean {
  return artifact.runId === state.head.runId || isKnown(state, artifact.artifactId);
}

async function part(
  chunks: AsyncIterable<Uint8Array>,
  offset: number,
  limit: number,
): Promise<Uint8Array> {
  const taken: Uint8Array[] = [];
  let position = 0;
  let missing = limit;
  for await (const chunk of chunks) {
    const wanted = chunk.subarray(Math.max(0, offset - position)).subarray(0, missing);
    position += chunk.length;
    if (wanted.length > 0) taken.push(wanted);
    missing -= wanted.length;
    if (missing === 0) break;
  }
  return Buffer.concat(taken);
}

/** The bytes of the longest character. */
const maxCharacterBytes = 4;

/**
 * Decodes at most `limit` of the bytes into a text of at most `maxTextBytes`, and returns it with the number of decoded
 * bytes. They end with a whole character, and include at least one. Invalid bytes become replacement characters, which are
 * longer than the bytes.
 */
function decoded(
  bytes: Uint8Array,
  limit: number,
  maxTextBytes: number,
): { readonly text: string; readonly taken: number } {
  let taken = wholeCharacters(bytes, limit);
  let text = textOf(bytes.subarray(0, taken));
  for (let size = Buffer.byteLength(text); size > maxTextBytes; size = Buffer.byteLength(text)) {
    const fewer = wholeCharacters(bytes, Math.max(1, Math.floor((taken * maxTextBytes) / size)));
    if (fewer >= taken) break;
    taken = fewer;
    text = textOf(bytes.subarray(0, taken));
  }
  return { text, taken };
}

/** Returns how many of the first `max` bytes are whole characters; at least the bytes of one. */
function wholeCharacters(bytes: Uint8Array, max: number): number {
  if (bytes.length <= max) return bytes.length;
  let end = max;
  while (end > 0 && max - end < maxCharacterBytes && isInside(bytes[end])) end--;
  // Bytes that are not text may be split anywhere.
  if (isInside(bytes[end])) return max;
  if (end > 0) return end;
  end = max;
  while (end < bytes.length && isInside(bytes[end])) end++;
  return end;
}

function isInside(byte = 0): boolean {
  return byte >= 0x80 && byte <= 0xbf;
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(bytes);
}

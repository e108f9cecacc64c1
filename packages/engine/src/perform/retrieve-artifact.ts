import type { JsonObject } from "@bufbuild/protobuf";
import type { Artifact } from "@reeve/contracts/artifact";
import { limitsOf } from "../domain/budget/limits.ts";
import type { RunState } from "../domain/state/run-state.ts";
import type { RunPorts } from "../ports/run-ports.ts";

const defaultBytes = 20_000;
/** What the line below a part may take. */
const noteBytes = 200;

/** What a model reads of an artifact of its run, from `offset` on. */
export async function retrieveArtifact(
  state: RunState,
  args: JsonObject,
  { artifacts }: Pick<RunPorts, "artifacts">,
  signal: AbortSignal,
): Promise<{ readonly content: string; readonly isError: boolean }> {
  const artifactId = typeof args["artifact_id"] === "string" ? args["artifact_id"] : "";
  const tenant = state.head.created?.tenant ?? "";
  const artifact = /^art_[a-z0-9]{16,64}$/.test(artifactId)
    ? await artifacts.get(tenant, artifactId, signal)
    : undefined;
  if (artifact === undefined || !isOfRun(state, artifact)) {
    const known = [...state.offloaded].join(", ");
    const content = `there is no artifact "${artifactId}" of this run; results were kept as: ${known === "" ? "none" : known}`;
    return { content, isError: true };
  }
  const offset = typeof args["offset"] === "number" ? args["offset"] : 0;
  const most = Math.max(1, limitsOf(state).resultBytes - noteBytes);
  const limit = Math.min(typeof args["limit"] === "number" ? args["limit"] : defaultBytes, most);
  const read = await part(artifacts.read(tenant, artifactId, signal), offset, limit + longest);
  const { text, taken } = shown(read, limit, most);
  const total = artifact.sizeBytes;
  const end = Math.min(offset, total) + taken;
  const note = `[bytes ${Math.min(offset, total)} to ${end} of ${total}${end < total ? `; read on with offset ${end}` : ""}]`;
  return { content: `${text}\n${note}`, isError: false };
}

/** What the run made or was given; artifacts of others in the tenant are not its model's to read. */
function isOfRun({ head: { runId, created }, offloaded }: RunState, artifact: Artifact): boolean {
  const given = created?.files.some(({ artifactId }) => artifactId === artifact.artifactId);
  return artifact.runId === runId || given === true || offloaded.has(artifact.artifactId);
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
const longest = 4;

/**
 * At most `limit` of the bytes as a text of at most `most`, and how many they are: they end with a whole character, and have
 * at least one. Bytes that are no text are shown as what stands for them, which takes more than they do.
 */
function shown(
  bytes: Uint8Array,
  limit: number,
  most: number,
): { readonly text: string; readonly taken: number } {
  let taken = wholeCharacters(bytes, limit);
  let text = textOf(bytes.subarray(0, taken));
  for (let size = Buffer.byteLength(text); size > most; size = Buffer.byteLength(text)) {
    const fewer = wholeCharacters(bytes, Math.max(1, Math.floor((taken * most) / size)));
    if (fewer >= taken) break;
    taken = fewer;
    text = textOf(bytes.subarray(0, taken));
  }
  return { text, taken };
}

/** How many of the first `most` bytes are whole characters; those of one at least. */
function wholeCharacters(bytes: Uint8Array, most: number): number {
  if (bytes.length <= most) return bytes.length;
  let end = most;
  while (end > 0 && most - end < longest && isInside(bytes[end])) end--;
  // Bytes that are no text begin and end anywhere.
  if (isInside(bytes[end])) return most;
  if (end > 0) return end;
  end = most;
  while (end < bytes.length && isInside(bytes[end])) end++;
  return end;
}

function isInside(byte = 0): boolean {
  return byte >= 0x80 && byte <= 0xbf;
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(bytes);
}

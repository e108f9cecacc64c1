import type { Part } from "@a2a-js/sdk";
import { fileNote } from "@reeve/contracts/content/media";
import type { ModelPart, ModelRequest } from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { KeyedSemaphore } from "@reeve/platform/async/coordination/keyed-semaphore";
import type { BackoffOptions } from "@reeve/platform/async/retry/backoff";
import { retry } from "@reeve/platform/async/retry/retry";
import { artifactIdOf, draftViolations, runFileKey } from "@reeve/jetstream/objects/artifact-draft";
import { limited } from "./permitted-fetch.ts";
import { remoteFailure } from "./remote-failure.ts";

/** A file that a remote agent sends or names. */
export interface RemoteFile {
  /** The same in every attempt to read the answer. */
  readonly key: string;
  readonly name: string;
  readonly mediaType: string;
  /** Its bytes, or its address. */
  readonly content: Uint8Array | string;
}

/** The limits of the files of one answer. */
const maxFiles = 20;
const maxFileBytes = 16 * 2 ** 20;
const maxBytes = 48 * 2 ** 20;
/** How long a file may take, with all attempts to read it. */
const fetchMs = 60_000;
/** How often a file is read whose address is unavailable, and the delays between the attempts. */
const maxAttempts = 6;
export const fileDelays: BackoffOptions = { firstDelayMs: 250, maxDelayMs: 8_000, jitter: 0.5 };
/** How many files the answer names. */
const maxNamed = 2 * maxFiles;
/** How much of an address, and of a reason, the answer has: its text is one event of the run. */
const maxShown = 500;
const maxType = 255;

/** Where files belong. */
interface FilePlace {
  /** The id of their artifact, or what stands for it. */
  readonly key: string;
  /** The name of their artifact. */
  readonly name?: string;
  /** How many files of the same artifact are known already. */
  readonly known?: number;
}

/** Returns the files among the parts of an artifact or a message: as many as an answer can name. */
export function filesIn(
  parts: readonly Part[],
  { key, name = "", known = 0 }: FilePlace,
): readonly RemoteFile[] {
  const files: RemoteFile[] = [];
  for (const { content, filename, mediaType } of parts) {
    // One more, so that the answer can say that there are more.
    if (known + files.length > maxNamed) break;
    if (content?.$case !== "raw" && content?.$case !== "url") continue;
    const number = known + files.length + 1;
    const draft = { name: nameOf([filename, name, `file-${number}`]), mediaType };
    const isTyped =
      mediaType !== "" &&
      mediaType.length <= maxType &&
      draftViolations(draft, "part").length === 0;
    const type = isTyped ? mediaType : "application/octet-stream";
    files.push({
      key: `${key}/${number}`,
      name: draft.name,
      mediaType: type,
      content: content.value,
    });
  }
  return files;
}

/** Returns the first usable name, without folders. */
function nameOf(names: readonly string[]): string {
  const usable = names
    .map((each) => each.split(/[/\\]/).at(-1)?.slice(0, 200).toWellFormed() ?? "")
    .find((name) => name !== "" && draftViolations({ name, mediaType: "" }, "part").length === 0);
  return usable ?? "file";
}

/** Where files come from. */
export interface FileSource {
  readonly fetchImpl: typeof globalThis.fetch;
  /** Bounds the files that are read from addresses at the same time, by tenant. */
  readonly downloads: KeyedSemaphore;
  /** The delays between attempts to read a file. */
  readonly delays: BackoffOptions;
}

/** Returns the bound of the downloads of a runtime, and of a tenant. Each holds at most 16 MiB. */
export function openDownloads(): KeyedSemaphore {
  return new KeyedSemaphore({ permits: 8, permitsPerKey: 2, maxWaitingPerKey: Infinity });
}

/**
 * Yields the files of an answer that the run stores. Returns a line for each file: the id of its artifact, or why it was not transferred. Only
 * addresses that `fetchImpl` permits are read; one that is unavailable is read again, with a limit. A file that cannot be read does not
 * fail the answer.
 */
export async function* takeFiles(
  files: readonly RemoteFile[],
  { owner, remote }: Pick<ModelRequest, "owner" | "remote">,
  source: FileSource,
  signal: AbortSignal,
): AsyncGenerator<ModelPart, readonly string[]> {
  const { tenant = "", runId = "" } = owner ?? {};
  const lines: string[] = [];
  let left = maxBytes;
  for (const [index, file] of files.slice(0, maxNamed).entries()) {
    const { name, mediaType } = file;
    const room = Math.min(left, maxFileBytes);
    const isFetched = typeof file.content === "string" && index < maxFiles;
    // Until the file is stored: before that, its bytes are in memory.
    using _ = isFetched ? await source.downloads.acquire(tenant, signal) : undefined;
    const taken = index < maxFiles ? await bytesOf(file, room, source, signal) : tooMany;
    if (typeof taken === "string") {
      const place =
        typeof file.content === "string"
          ? ` at ${file.content.slice(0, maxShown).toWellFormed()}`
          : "";
      const reason = taken.slice(0, maxShown);
      lines.push(fileNote(file, `${mediaType}${place}, was not transferred: ${reason}`));
      continue;
    }
    left -= taken.length;
    const key = `a2a/${remote?.messageId ?? ""}/${file.key}`;
    const draft = { name, mediaType, runId, idempotencyKey: runFileKey(runId, key) };
    yield { kind: "file", file: { name, mediaType, bytes: taken, key } };
    const described = `${mediaType}, ${taken.length} bytes`;
    lines.push(fileNote(file, `artifact ${artifactIdOf(tenant, draft)} (${described})`));
  }
  if (files.length > maxNamed) lines.push(`The files after the first ${maxNamed} are not named.`);
  return lines;
}

const tooMany = `an answer has at most ${maxFiles} files`;

/** Returns the bytes of a file, or why they are not taken. */
async function bytesOf(
  { content }: RemoteFile,
  room: number,
  { fetchImpl, delays: backoff }: Pick<FileSource, "fetchImpl" | "delays">,
  signal: AbortSignal,
): Promise<Uint8Array | string> {
  const tooLarge = `it has more than ${room} bytes, which is what is left of the limits of an answer`;
  if (typeof content !== "string") return content.length > room ? tooLarge : content;
  if (!URL.canParse(content)) return "its address is not valid";
  if (room === 0) return tooLarge;
  const until = AbortSignal.any([signal, AbortSignal.timeout(fetchMs)]);
  let attempts = 0;
  const read = async (): Promise<Uint8Array | string> => {
    attempts += 1;
    const response = await fetchImpl(content, { signal: until });
    if (!response.ok || Number(response.headers.get("content-length") ?? "0") > room) {
      await response.body?.cancel();
      return response.ok ? tooLarge : `its address answers ${response.status}`;
    }
    return new Uint8Array(await limited(response, room).arrayBuffer());
  };
  const options = {
    backoff,
    maxAttempts,
    maxElapsedMs: fetchMs,
    isRetryable: (error: unknown) => remoteFailure(error, content).retryable,
    retryAfterMs: (error: unknown) => remoteFailure(error, content).retryAfterMs,
  };
  try {
    return await retry(read, options, until);
  } catch (error) {
    signal.throwIfAborted();
    const { message } = remoteFailure(error, content);
    return attempts === 1 ? message : `${message}, after ${attempts} attempts`;
  }
}

/** Returns a file of a user's message as a part. */
export function filePart(
  file: { readonly artifactId: string; readonly name: string; readonly mediaType: string },
  { files }: Pick<ModelRequest, "files">,
): Part {
  const { artifactId, name: filename, mediaType } = file;
  const bytes = files?.get(artifactId);
  if (bytes === undefined) {
    throw new ModelFailure("invalid", `the file ${filename}, artifact ${artifactId}, was deleted`);
  }
  const content = { $case: "raw", value: Buffer.from(bytes) } as const;
  return { content, metadata: undefined, filename, mediaType };
}

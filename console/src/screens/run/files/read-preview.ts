import { artifacts, files } from "../../../api/transport.ts";

/** More of a file is shown only after a download. */
export const previewBytes: number = 256 * 1024;

interface Preview {
  /** Undefined: the file is not text. */
  readonly text: string | undefined;
  /** Whether it is the start of a text that may be longer. */
  readonly isCut: boolean;
}

/** Reads the start of a file of a workspace. */
export async function readPreview(
  runId: string,
  path: string,
  signal: AbortSignal,
): Promise<Preview> {
  const length = BigInt(previewBytes);
  return await previewOf(files.readFile({ runId, path, length }, { signal }));
}

/** Reads the start of an artifact. */
export async function readArtifact(artifactId: string, signal: AbortSignal): Promise<Preview> {
  const reading = new AbortController();
  try {
    const read = { signal: AbortSignal.any([signal, reading.signal]) };
    return await previewOf(artifacts.downloadArtifact({ artifactId }, read));
  } finally {
    reading.abort();
  }
}

interface Message {
  readonly part: { readonly case: string | undefined; readonly value?: unknown };
}

async function previewOf(messages: AsyncIterable<Message>): Promise<Preview> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let left = previewBytes;
  for await (const { part } of messages) {
    if (part.case !== "chunk" || !(part.value instanceof Uint8Array)) continue;
    const chunk = new Uint8Array(part.value.subarray(0, left));
    chunks.push(chunk);
    left -= chunk.length;
    if (left === 0) break;
  }
  const text = await new Blob(chunks).text();
  return { text: text.includes("\u0000") ? undefined : text, isCut: left === 0 };
}

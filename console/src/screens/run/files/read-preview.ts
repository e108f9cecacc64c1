import { files } from "../../../api/transport.ts";

/** More of a file is shown only after a download. */
export const previewBytes: number = 256 * 1024;

interface Preview {
  /** Undefined: the file is not text. */
  readonly text: string | undefined;
}

/** Reads the start of a file of a workspace. */
export async function readPreview(
  runId: string,
  path: string,
  signal: AbortSignal,
): Promise<Preview> {
  const length = BigInt(previewBytes);
  const chunks: Uint8Array[] = [];
  for await (const { part } of files.readFile({ runId, path, length }, { signal })) {
    if (part.case === "chunk") chunks.push(part.value);
  }
  const text = await new Blob(chunks.map((chunk) => new Uint8Array(chunk))).text();
  return { text: text.includes("\u0000") ? undefined : text };
}

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Artifact, UploadArtifactRequestSchema } from "@reeve/contracts/artifact";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { Reeve } from "./client.ts";

/** A file on this machine and its name in the workspace of a run. */
export interface LocalFile {
  readonly path: string;
  readonly name: string;
}

const chunkBytes = 256 * 1024;

/** Reads `path` or `path=name`. */
export function parseLocalFile(text: string): LocalFile {
  const cut = text.lastIndexOf("=");
  if (cut <= 0) return { path: text, name: basename(text) };
  return { path: text.slice(0, cut), name: text.slice(cut + 1) || basename(text.slice(0, cut)) };
}

/** Stores a local file as an artifact. Throws a Failure when it cannot be read. */
export async function uploadFile(
  reeve: Pick<Reeve, "artifacts">,
  { path, name }: LocalFile,
  mediaType: string,
  signal: AbortSignal,
): Promise<Artifact> {
  await assertReadable(path);
  const { artifact } = await reeve.artifacts.uploadArtifact(
    parts(path, { name: basename(name), mediaType }),
    { signal },
  );
  if (artifact === undefined) throw unreadable(path, "the server stored nothing");
  return artifact;
}

async function* parts(
  path: string,
  header: { readonly name: string; readonly mediaType: string },
): AsyncGenerator<MessageInitShape<typeof UploadArtifactRequestSchema>, void, undefined> {
  yield { part: { case: "header", value: header } };
  for await (const chunk of createReadStream(path, { highWaterMark: chunkBytes })) {
    // A stream without an encoding gives bytes.
    yield { part: { case: "chunk", value: new Uint8Array(chunk as Buffer) } };
  }
}

async function assertReadable(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw unreadable(path, "does not exist");
  if (!found.isFile()) throw unreadable(path, "is not a file");
}

function unreadable(path: string, why: string): Failure {
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, `${path} ${why}`);
}

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { WorkspaceFileSchema } from "@reeve/contracts/tool";
import { artifacts } from "../../api/transport.ts";

/** The size of a file that one request carries. Browsers cannot stream requests; the command line uploads larger files. */
export const maxFileBytes = 1024 * 1024;
export const maxFiles = 20;

/** The ids of the artifacts of files that were uploaded. */
export type Uploads = WeakMap<File, string>;

/**
 * Uploads files one after the other, without those that `uploads` has, and returns them as the files of a workspace. Repeated after
 * an error, it uploads only what is missing.
 */
export async function uploadFiles(
  files: readonly File[],
  uploads: Uploads,
  signal: AbortSignal,
): Promise<MessageInitShape<typeof WorkspaceFileSchema>[]> {
  const uploaded = [];
  for (const file of files) {
    const artifactId = uploads.get(file) ?? (await upload(file, signal));
    uploads.set(file, artifactId);
    uploaded.push({ artifactId, path: file.name });
  }
  return uploaded;
}

async function upload(file: File, signal: AbortSignal): Promise<string> {
  const content = new Uint8Array(await file.arrayBuffer());
  const header = { name: file.name, mediaType: file.type };
  const { artifact } = await artifacts.createArtifact({ header, content }, { signal });
  return artifact?.artifactId ?? "";
}

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { WorkspaceFileSchema } from "@reeve/contracts/tool";
import { artifacts } from "../../api/transport.ts";

/** The size of a file that one request carries. Browsers cannot stream requests; the command line uploads larger files. */
export const maxFileBytes = 1024 * 1024;
export const maxFiles = 20;

/** Uploads files one after the other, and returns them as the files of a workspace. */
export async function uploadFiles(
  files: readonly File[],
  signal: AbortSignal,
): Promise<MessageInitShape<typeof WorkspaceFileSchema>[]> {
  const uploaded = [];
  for (const file of files) {
    const content = new Uint8Array(await file.arrayBuffer());
    const header = { name: file.name, mediaType: file.type };
    const { artifact } = await artifacts.createArtifact({ header, content }, { signal });
    uploaded.push({ artifactId: artifact?.artifactId ?? "", path: file.name });
  }
  return uploaded;
}

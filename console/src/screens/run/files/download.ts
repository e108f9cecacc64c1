import { artifacts, files } from "../../../api/transport.ts";
import { saveAs } from "../../../api/save-as.ts";

/** Saves an artifact on the machine of the reader. Its type is not used, so that the browser never opens it. */
export async function downloadArtifact(artifactId: string, name: string): Promise<void> {
  const chunks: BlobPart[] = [];
  for await (const { part } of artifacts.downloadArtifact({ artifactId })) {
    if (part.case === "chunk") chunks.push(new Uint8Array(part.value));
  }
  saveAs(chunks, name);
}

/** Saves a file of a workspace on the machine of the reader. */
export async function downloadFile(runId: string, path: string): Promise<void> {
  const chunks: BlobPart[] = [];
  for await (const { part } of files.readFile({ runId, path })) {
    if (part.case === "chunk") chunks.push(new Uint8Array(part.value));
  }
  saveAs(chunks, path.split("/").at(-1) ?? "file");
}

import { useQuery } from "@tanstack/react-query";
import type { ContentPart, FilePart } from "@reeve/contracts/content/parts";
import { artifacts } from "../../api/transport.ts";
import { saveAs } from "../../api/save-as.ts";
import { formatBytes } from "../../format/amounts.ts";
import { Icon } from "../icons.tsx";
import { Markdown } from "./markdown.tsx";

/** The images that the page shows. Others could contain scripts. */
const shownTypes: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
]);

/** The parts of a message after its text: images are shown, other files can be saved. */
export function MessageParts({ parts }: { readonly parts: readonly ContentPart[] }) {
  if (parts.length === 0) return null;
  return (
    <div className="message-parts">
      {parts.map(({ part }, index) => {
        if (part.case === "text") return <Markdown key={index} text={part.value} />;
        if (part.case !== "file") return null;
        return shownTypes.has(part.value.mediaType) ? (
          <ShownImage key={index} file={part.value} />
        ) : (
          <SavedFile key={index} file={part.value} />
        );
      })}
    </div>
  );
}

function ShownImage({ file }: { readonly file: FilePart }) {
  const { artifactId, mediaType, name, width, height } = file;
  const image = useQuery({
    queryKey: ["artifact", artifactId],
    queryFn: async ({ signal }) => dataUrl(await bytesOf(artifactId, signal), mediaType),
    staleTime: Infinity,
    retry: false,
  });
  if (image.error !== null) return <span className="muted">{name} is not available anymore</span>;
  if (image.data === undefined) return <span className="muted">{name} …</span>;
  return <img src={image.data} alt={name} width={width} height={height} />;
}

function SavedFile({ file: { artifactId, name, sizeBytes } }: { readonly file: FilePart }) {
  const save = async () => saveAs(await bytesOf(artifactId), name);
  return (
    <button type="button" className="button" onClick={() => void save()}>
      <Icon name="file" />
      {name} ({formatBytes(sizeBytes)})
    </button>
  );
}

async function bytesOf(
  artifactId: string,
  signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>[]> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const options = signal === undefined ? {} : { signal };
  for await (const { part } of artifacts.downloadArtifact({ artifactId }, options)) {
    if (part.case === "chunk") chunks.push(Uint8Array.from(part.value));
  }
  return chunks;
}

async function dataUrl(chunks: BlobPart[], mediaType: string): Promise<string> {
  const reader = new FileReader();
  const read = new Promise<string>((resolve, reject) => {
    const loaded = () => resolve(typeof reader.result === "string" ? reader.result : "");
    const failed = () => reject(reader.error ?? new Error("the image cannot be read"));
    reader.addEventListener("load", loaded);
    reader.addEventListener("error", failed);
  });
  reader.readAsDataURL(new Blob(chunks, { type: mediaType }));
  return await read;
}

import { create } from "@bufbuild/protobuf";
import type { BoundContent, BoundFile } from "@reeve/contracts/tool";
import { BoundContentSchema, BoundFileSchema } from "@reeve/contracts/tool";

/** The bytes of the previews of one approval at most: it is stored again with each vote, and beside the one that supersedes it. */
const maxPreviewBytes = 32_000;

/** Returns content whose previews fit into an approval, whatever the toolhost sent: each file has an equal share. */
export function boundPreviews(content: BoundContent): BoundContent {
  const previewing = content.files.filter(({ preview }) => preview !== "");
  const bytes = previewing.reduce((sum, { preview }) => sum + Buffer.byteLength(preview), 0);
  if (bytes <= maxPreviewBytes) return content;
  const share = Math.floor(maxPreviewBytes / previewing.length);
  return withPreviews(content, ({ preview }) => startOf(preview, share));
}

/** Returns content with its digests only. */
export function withoutPreviews(content: BoundContent): BoundContent {
  return withPreviews(content, () => "");
}

function withPreviews(
  { digest, files }: BoundContent,
  previewOf: (file: BoundFile) => string,
): BoundContent {
  const fitting = files.map((file) => {
    const { path, state, sizeBytes, sha256 } = file;
    return create(BoundFileSchema, { path, state, sizeBytes, sha256, preview: previewOf(file) });
  });
  return create(BoundContentSchema, { digest, files: fitting });
}

/** Returns the start of a text in at most `maxBytes` bytes, without a part of a character. */
function startOf(text: string, maxBytes: number): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, maxBytes), { stream: true });
}

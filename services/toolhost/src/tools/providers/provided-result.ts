import type { ProvidedResult } from "@reeve/contracts/tool-provider";
import { hasJson } from "@reeve/calls/results/record-size";
import type { Attachment, CallResult } from "@reeve/calls/ports/tool";

/** What a provider answered, as a model reads it. Files are attachments, of which the text tells. */
export function providedOutcome(result: ProvidedResult): CallResult {
  const { content, isError, structured, files } = result;
  const attachments = files.map(({ mediaType, content: bytes }, index): Attachment => ({
    label: `file ${index + 1}`,
    mediaType,
    bytes,
  }));
  const isReadable = structured !== undefined && hasJson(structured);
  const text = content === "" && isReadable ? JSON.stringify(structured) : content;
  const told = attachments.map(
    ({ label, mediaType, bytes }) =>
      `[${label}: ${mediaType || "of unknown type"}, ${bytes.length} bytes]`,
  );
  return {
    content: [...(text === "" ? [] : [text]), ...told].join("\n"),
    isError,
    ...(isReadable && { structured }),
    ...(attachments.length > 0 && { attachments }),
  };
}

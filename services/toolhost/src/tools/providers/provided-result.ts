import type { ProvidedResult } from "@reeve/contracts/extensions/tool-provider";
import { hasJson } from "@reeve/calls/results/record-size";
import type { Attachment, CallResult } from "@reeve/calls/ports/tool";

/** Returns the result of a provider as the result of a call. Its files become attachments that the text names. */
export function providedResult(result: ProvidedResult): CallResult {
  const { content, isError, structured, files } = result;
  const attachments = files.map(({ mediaType, content: bytes }, index): Attachment => ({
    label: `file ${index + 1}`,
    mediaType,
    bytes,
  }));
  const isReadable = structured !== undefined && hasJson(structured);
  const text = content === "" && isReadable ? JSON.stringify(structured) : content;
  const notes = attachments.map(
    ({ label, mediaType, bytes }) =>
      `[${label}: ${mediaType || "of unknown type"}, ${bytes.length} bytes]`,
  );
  return {
    content: [...(text === "" ? [] : [text]), ...notes].join("\n"),
    isError,
    ...(isReadable && { structured }),
    ...(attachments.length > 0 && { attachments }),
  };
}

import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** A format that documents can have. */
export type Format = "text" | "html" | "pdf" | "docx";

export const docxMediaType =
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

const formatOf = new Map<string, Format>([
  ["text/html", "html"],
  ["application/xhtml+xml", "html"],
  ["application/pdf", "pdf"],
  [docxMediaType, "docx"],
  ["application/json", "text"],
  ["application/yaml", "text"],
]);

const mediaTypeOf = new Map([
  ["md", "text/markdown"],
  ["markdown", "text/markdown"],
  ["txt", "text/plain"],
  ["text", "text/plain"],
  ["rst", "text/plain"],
  ["adoc", "text/plain"],
  ["log", "text/plain"],
  ["csv", "text/csv"],
  ["json", "application/json"],
  ["yaml", "application/yaml"],
  ["yml", "application/yaml"],
  ["html", "text/html"],
  ["htm", "text/html"],
  ["pdf", "application/pdf"],
  ["docx", docxMediaType],
]);

/** The media type of a document, and the format in which it is read. */
export interface DocumentFormat {
  readonly mediaType: string;
  readonly format: Format;
}

/** Returns the media type that the ending of a name stands for. Empty: none. */
export function mediaTypeOfName(name: string): string {
  const ending = /\.([a-z0-9]+)$/.exec(name.toLowerCase())?.[1] ?? "";
  return mediaTypeOf.get(ending) ?? "";
}

/**
 * Returns the format of a document from its media type, or from the ending of its name if it has no media type. Throws a Failure
 * with reason DOCUMENT_UNREADABLE if the format is not supported.
 */
export function documentFormat(name: string, given: string): DocumentFormat {
  const [plain = ""] = given.toLowerCase().split(";");
  const isUnknown = plain.trim() === "" || plain.trim() === "application/octet-stream";
  const mediaType = isUnknown ? mediaTypeOfName(name) : plain.trim();
  const format = formatOf.get(mediaType) ?? (mediaType.startsWith("text/") ? "text" : undefined);
  if (format !== undefined) return { mediaType, format };
  const what = mediaType === "" ? "its name has no ending that is known" : `it is ${mediaType}`;
  const description = `document "${name}" cannot be read: ${what}; text, Markdown, HTML, PDF, and DOCX are read, and media_type names the type`;
  throw new Failure("invalid", ErrorReason.DOCUMENT_UNREADABLE, description, {
    violations: [{ field: "media_type", description, reason: "UNSUPPORTED_MEDIA_TYPE" }],
  });
}

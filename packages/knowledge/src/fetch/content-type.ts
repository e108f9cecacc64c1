import { mediaTypeOf } from "@reeve/sandbox/network/web/media-type";
import { docxMediaType } from "../parse/formats.ts";

/** How many bytes at its start say what a document is. */
const headBytes = 4_096;
const charsetInHtml = /<meta[^>]+charset=["']?([\w-]+)/i;
const html = /^\s*(?:<!doctype html|<html[\s>])/i;
const textual = /^$|^text\/|[/+](?:html|xhtml|json|xml|yaml)\b/;
const archive = "PK\u0003\u0004";
/** Longer text is not converted, which would block other requests, and take several times its size. */
const maxConvertedBytes = 8 * 1_048_576;
const byteOrderMark = /^(?:\u00FE\u00FF|\u00FF\u00FE|\u00EF\u00BB\u00BF)/;
/** Servers that do not know what they store say so by these types. */
const unknownTypes: ReadonlySet<string> = new Set([
  "",
  "application/octet-stream",
  "binary/octet-stream",
]);

/** What a document is, and in which charset. */
interface ContentType {
  /** Empty: neither its bytes nor its server say so. */
  readonly mediaType: string;
  /** Undefined: not known, or it is no text. */
  readonly charset: string | undefined;
}

/**
 * Returns what the content of a response is. The first bytes of a PDF, and of a DOCX, count more than what the server says; where it says
 * nothing, those of HTML count, too.
 */
export function contentTypeOf(bytes: Uint8Array, header: string | undefined): ContentType {
  const head = headOf(bytes);
  const declared = mediaTypeOf(header);
  const isUnknown = unknownTypes.has(declared.type);
  const textType = isUnknown && html.test(head) ? "text/html" : isUnknown ? "" : declared.type;
  const mediaType = binaryTypeOf(head) ?? textType;
  // Servers name a charset of files without text, too.
  const isText = textual.test(mediaType) && !head.startsWith(archive);
  // Text other than HTML may quote such an element.
  const inHead = mediaType.includes("html") ? charsetInElement(head) : undefined;
  return { mediaType, charset: isText ? (declared.charset ?? inHead) : undefined };
}

/**
 * Returns text in another charset as UTF-8. Returns the bytes as they are if they have a byte order mark or more than 8 MiB, or if the
 * charset is UTF-8 or unknown.
 */
export function inUtf8(bytes: Uint8Array, charset: string | undefined): Uint8Array {
  const isUtf8 = charset === undefined || /^utf-?8$/i.test(charset);
  if (isUtf8 || bytes.length > maxConvertedBytes || byteOrderMark.test(headOf(bytes))) return bytes;
  try {
    return Buffer.from(new TextDecoder(charset).decode(bytes));
  } catch {
    return bytes;
  }
}

/** An element that can be read byte by byte is not in UTF-16, whatever it says: the HTML standard then takes UTF-8. */
function charsetInElement(head: string): string | undefined {
  const charset = charsetInHtml.exec(head)?.[1];
  return /^utf-?16/i.test(charset ?? "") ? undefined : charset;
}

function headOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(0, headBytes)).toString("latin1");
}

function binaryTypeOf(head: string): string | undefined {
  if (head.startsWith("%PDF-")) return "application/pdf";
  const isWord = head.startsWith(archive) && head.includes("word/");
  return isWord ? docxMediaType : undefined;
}

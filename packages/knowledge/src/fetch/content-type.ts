import { mediaTypeOf } from "@reeve/sandbox/network/web/media-type";
import { docxMediaType } from "../parse/formats.ts";

/** How many bytes at its start say what a document is. */
const headBytes = 4_096;
const charsetInHtml = /<meta[^>]+charset=["']?([\w-]+)/i;
const html = /^\s*(?:<!doctype html|<html[\s>])/i;

/** What a document is, and in which charset. */
interface ContentType {
  /** Empty: neither its bytes nor its server say so. */
  readonly mediaType: string;
  /** Undefined: not known. */
  readonly charset: string | undefined;
}

/**
 * Returns what the content of a response is. The first bytes of a PDF, and of a DOCX, count more than what the server says; where it says
 * nothing, those of HTML count, too.
 */
export function contentTypeOf(bytes: Uint8Array, header: string | undefined): ContentType {
  const head = Buffer.from(bytes.subarray(0, headBytes)).toString("latin1");
  const declared = mediaTypeOf(header);
  const isHtml = declared.type === "" && html.test(head);
  const type = isHtml ? "text/html" : declared.type;
  const isText = /html|^text\//.test(type);
  return {
    mediaType: binaryTypeOf(head) ?? type,
    charset: declared.charset ?? (isText ? charsetInHtml.exec(head)?.[1] : undefined),
  };
}

/** Returns text in another charset as UTF-8, which is what is read. Returns the bytes as they are if the charset is UTF, or unknown. */
export function inUtf8(bytes: Uint8Array, charset: string | undefined): Uint8Array {
  if (charset === undefined || /^utf-?(?:8|16)/i.test(charset)) return bytes;
  try {
    return Buffer.from(new TextDecoder(charset).decode(bytes));
  } catch {
    return bytes;
  }
}

function binaryTypeOf(head: string): string | undefined {
  if (head.startsWith("%PDF-")) return "application/pdf";
  const isWord = head.startsWith("PK\u0003\u0004") && head.includes("word/");
  return isWord ? docxMediaType : undefined;
}

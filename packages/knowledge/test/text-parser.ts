import type { DocumentDraft } from "../src/documents/document-intake.ts";
import { dividePages } from "../src/parse/divide-pages.ts";
import type { ParseDocument } from "../src/parse/parse-document.ts";
import { readText } from "../src/parse/read-text.ts";

/** Reads every document as text, in this process. */
export const parseText: ParseDocument = async (_, __, bytes) => ({
  passages: [...dividePages(readText(bytes))],
  pageCount: 0,
});

/** Returns a document with a text or other bytes. */
export function draftOf(name: string, content: string | Uint8Array): DocumentDraft {
  return { name, mediaType: "", read: async () => Buffer.from(content) };
}

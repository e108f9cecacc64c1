/**
 * The process that reads one document: `node document-reader.ts FORMAT MAX_TEXT_BYTES`, with the document on its standard input. Writes
 * one JSON object to its standard output: the passages, or why the document cannot be read.
 */
import process from "node:process";
import { buffer } from "node:stream/consumers";
import { dividePages } from "./divide-pages.ts";
import type { PassageText } from "./divide-pages.ts";
import type { Page } from "./page.ts";
import { TooLarge, Unreadable } from "./page.ts";
import type { ReaderAnswer } from "./parsed-document.ts";
import { maxPassages } from "./parsed-document.ts";

const [format = "", maxText = "0"] = process.argv.slice(2);

const missing = new Set(["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND", "ERR_ACCESS_DENIED"]);

async function pagesOf(bytes: Uint8Array): Promise<Iterable<Page> | AsyncIterable<Page>> {
  // Loaded on demand: a text needs no library.
  switch (format) {
    case "html":
      return (await import("./read-html.ts")).readHtml(bytes);
    case "pdf":
      return (await import("./read-pdf.ts")).readPdf(bytes);
    case "docx":
      return (await import("./read-docx.ts")).readDocx(bytes);
    default:
      return (await import("./read-text.ts")).readText(bytes);
  }
}

async function passagesOf(bytes: Uint8Array): Promise<ReaderAnswer> {
  const passages: PassageText[] = [];
  let textBytes = 0;
  let pageCount = 0;
  for await (const page of await pagesOf(bytes)) {
    pageCount = Math.max(pageCount, page.page);
    for (const passage of dividePages([page])) {
      const text = passage.text.toWellFormed().replaceAll("\0", "");
      if (text === "") continue;
      textBytes += Buffer.byteLength(text);
      if (textBytes > Number(maxText)) throw new TooLarge("text");
      if (passages.length === maxPassages) throw new TooLarge("passages");
      passages.push({ ...passage, text });
    }
  }
  if (passages.length === 0) throw new Unreadable("no_text");
  return { passages, pageCount };
}

async function result(): Promise<ReaderAnswer> {
  try {
    return await passagesOf(new Uint8Array(await buffer(process.stdin)));
  } catch (error) {
    if (error instanceof TooLarge) return { tooLarge: error.limit };
    if (error instanceof Unreadable) return { unreadable: error.problem };
    // A library that is missing is a failure of the installation, which the gateway logs.
    if (error instanceof Error && "code" in error && missing.has(String(error.code))) throw error;
    return { unreadable: "damaged" };
  }
}

process.stdout.end(JSON.stringify(await result()));

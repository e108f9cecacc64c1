import { getDocumentProxy } from "unpdf";
import type { Page } from "./page.ts";
import { TooLarge, Unreadable } from "./page.ts";

const maxPages = 5_000;

/** Returns the text of each page of a PDF, in the order in which the PDF draws it. A scanned page without text has no lines. */
export async function* readPdf(bytes: Uint8Array): AsyncIterable<Page> {
  const document = await getDocumentProxy(bytes, {
    disableFontFace: true,
    useSystemFonts: false,
    stopAtErrors: false,
    verbosity: 0,
  }).catch((cause: unknown) => {
    const isLocked = cause instanceof Error && cause.name === "PasswordException";
    throw new Unreadable(isLocked ? "password" : "no_pdf", { cause });
  });
  if (document.numPages > maxPages) throw new TooLarge("pages");
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    const lines: string[] = [];
    let line = "";
    for (const item of items) {
      if (!("str" in item)) continue;
      line += item.str;
      if (!item.hasEOL) continue;
      lines.push(line.trimEnd());
      line = "";
    }
    if (line.trim() !== "") lines.push(line.trimEnd());
    page.cleanup();
    yield { page: number, lines };
  }
}

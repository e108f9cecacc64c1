import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import TurndownService from "turndown";

/** The text of a page, and its title. Empty: it has none. */
export interface PageText {
  readonly title: string;
  readonly text: string;
}

/** A page to read: the source text of HTML, or the bytes of a PDF. */
export type PageSource =
  | { readonly kind: "html"; readonly html: string; readonly url: string }
  | { readonly kind: "pdf"; readonly bytes: Uint8Array };

/** Reads a page. It may take any time and memory, so run it where both are limited. Throws if the page cannot be read. */
export async function pageText(source: PageSource): Promise<PageText> {
  return source.kind === "html" ? htmlText(source.html, source.url) : await pdfText(source.bytes);
}

/** Returns the readable part of a document as Markdown; if there is none, all of it. Links are absolute. */
function htmlText(html: string, url: string): PageText {
  const document = usableDocument(html, url);
  const title = document.title.trim();
  // Nodes instead of their source: a second tree of a long article would need as much memory as the first.
  const article = new Readability(document, { serializer: (node) => node }).parse();
  const markdown = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced" })
    .remove(["img", "picture", "video", "audio"])
    // Looking for an article changes the document, so all of it is parsed again.
    .turndown(article?.content ?? usableDocument(html, url).body);
  return { title: article?.title ?? title, text: markdown };
}

/** Parses a document. It has absolute links, and nothing that is not text. */
function usableDocument(html: string, url: string): ReturnType<typeof parseHTML>["document"] {
  const { document } = parseHTML(wholeDocument(html));
  for (const each of document.querySelectorAll("script, style, noscript, template, iframe, svg")) {
    each.remove();
  }
  const base = document.querySelector("base[href]")?.getAttribute("href") ?? "";
  const baseUrl = URL.parse(base, url)?.href ?? url;
  for (const link of document.querySelectorAll("a[href]")) {
    const target = URL.parse(link.getAttribute("href") ?? "", baseUrl);
    if (target === null || !/^https?:$/.test(target.protocol)) link.removeAttribute("href");
    else link.setAttribute("href", target.href);
  }
  return document;
}

/** The parser puts the content of a document without `<html>` beside its body. */
function wholeDocument(html: string): string {
  return /<html[\s>]/i.test(html) ? html : `<html><head></head><body>${html}</body></html>`;
}

/** Returns the text of each page of a PDF under its number. */
async function pdfText(bytes: Uint8Array): Promise<PageText> {
  // The library takes longer to load than most HTML to read.
  const { extractText, getDocumentProxy } = await import("unpdf");
  const pdf = await getDocumentProxy(bytes);
  const { text: pages } = await extractText(pdf, { mergePages: false });
  const text = pages.map((page, index) => `[page ${index + 1}]\n${page.trim()}`).join("\n\n");
  return { title: "", text };
}

import type { Page } from "./page.ts";

/** A passage of the text of a document. */
export interface PassageText {
  readonly text: string;
  readonly page: number;
  readonly firstLine: number;
  readonly lastLine: number;
}

/** About 300 tokens: a few paragraphs, of which five fit into every prompt. */
const maxCharacters = 1_200;
/** A passage of at least this size ends at the end of a paragraph. */
const minCharacters = 500;

/**
 * Divides pages into passages. A passage never spans two pages, starts at a heading of Markdown or after an empty line where possible,
 * and has at most 1,200 characters. A longer line becomes several passages with the same line number.
 */
export function* dividePages(pages: Iterable<Page>): Iterable<PassageText> {
  for (const { page, lines } of pages) {
    let open: { first: number; last: number; texts: string[]; size: number } | undefined;
    const close = (): readonly PassageText[] => {
      const done = open;
      open = undefined;
      if (done === undefined) return [];
      const text = done.texts.join("\n").trimEnd();
      return [{ text, page, firstLine: done.first, lastLine: done.last }];
    };
    let isCode = false;
    for (const [index, line] of lines.entries()) {
      const number = index + 1;
      const isEmpty = line.trim() === "";
      if (isEmpty && open === undefined) continue;
      if (isEmpty && open !== undefined && open.size >= minCharacters) {
        yield* close();
        continue;
      }
      if (/^ {0,3}(```|~~~)/.test(line)) isCode = !isCode;
      const isHeading = !isCode && /^#{1,6}\s/.test(line);
      if (isHeading || (open?.size ?? 0) + line.length > maxCharacters) yield* close();
      for (const part of partsOf(line)) {
        if (open !== undefined && open.size + part.length > maxCharacters) yield* close();
        open ??= { first: number, last: number, texts: [], size: 0 };
        open.texts.push(part);
        open.size += part.length + 1;
        if (!isEmpty) open.last = number;
      }
    }
    yield* close();
  }
}

/** Divides a line at spaces, or within a word that is too long. Never within a character. */
function partsOf(line: string): readonly string[] {
  if (line.length <= maxCharacters) return [line];
  const parts: string[] = [];
  for (let rest = line; rest !== "";) {
    let end = Math.min(rest.length, maxCharacters);
    if (end < rest.length) {
      const space = rest.lastIndexOf(" ", end);
      if (space > minCharacters) end = space;
      else if (isHighSurrogate(rest.charCodeAt(end - 1))) end -= 1;
    }
    parts.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return parts;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

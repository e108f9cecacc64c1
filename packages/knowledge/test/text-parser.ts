import { dividePages } from "../src/parse/divide-pages.ts";
import type { ParseDocument } from "../src/parse/parse-document.ts";
import { readText } from "../src/parse/read-text.ts";

/** Reads every document as text, in this process. */
export const parseText: ParseDocument = async (_, __, bytes) => ({
  passages: [...dividePages(readText(bytes))],
  pageCount: 0,
});

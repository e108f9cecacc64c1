import type { CallResult } from "@reeve/calls/ports/tool";
import type { PageView } from "./page-view.ts";

const maxChars = 40_000;
const minChars = 1_000;
/** What a result has besides the text. */
const frameBytes = 1_000;
const maxTitleChars = 300;
/** How much of its address the text of a page begins with. */
export const maxUrlChars = 2_000;

/** Returns the lines with which the text of a page begins. */
export function headOfView({ title, url }: Pick<PageView, "title" | "url">): string[] {
  return [title.slice(0, maxTitleChars).toWellFormed(), url.slice(0, maxUrlChars)].filter(Boolean);
}

/** Returns the part of the text of a page at an offset that a result may have. Its length is in UTF-16 code units. */
export function partOfView(
  { url, title, text, status }: PageView & { readonly status?: number },
  offset: number,
  resultBytes: number,
): CallResult {
  if (offset > 0 && offset >= text.length) {
    return { content: `offset: the text has only ${text.length} characters`, isError: true };
  }
  const maxBytes = Math.max(minChars, resultBytes - frameBytes);
  let part = text.slice(offset, offset + maxChars);
  while (Buffer.byteLength(part) > maxBytes) part = part.slice(0, Math.floor(part.length * 0.9));
  part = part.toWellFormed();
  const end = offset + part.length;
  const rest = text.length - end;
  const more = rest === 0 ? "" : `\n[${rest} characters follow: browser_read with offset ${end}]`;
  const head = headOfView({ title, url });
  if (status !== undefined && status !== 200) head.push(`status ${status}`);
  return {
    content: `${head.join("\n")}\n\n${part}${more}`,
    isError: status !== undefined && status >= 400,
  };
}

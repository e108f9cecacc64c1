import { Unzip, UnzipInflate } from "fflate";
import { Parser } from "htmlparser2";
import type { Page } from "./page.ts";
import { TooLarge, Unreadable } from "./page.ts";

const bodyName = "word/document.xml";
/** A novel has about 10 MiB. */
const maxBodyBytes = 32 * 1_048_576;
/** What is read of the archive at once, so that a bomb is noticed before it has grown. */
const sliceBytes = 16_384;

/** Returns the paragraphs of the body of a DOCX document, one line for each. Headers, footers, and comments are left out. */
export function readDocx(bytes: Uint8Array): readonly Page[] {
  const lines: string[] = [];
  let line = "";
  let isText = false;
  const parser = new Parser(
    {
      onopentag(name, { "w:val": style }) {
        if (name === "w:t") isText = true;
        if (name === "w:tab") line += "\t";
        if (name === "w:tc" && line !== "") line += " ";
        if (name === "w:br" || name === "w:cr") line += " ";
        // A heading starts a passage, as in Markdown.
        const level =
          name === "w:pStyle" ? /^heading\s?([1-6])$/i.exec(style ?? "")?.[1] : undefined;
        if (level !== undefined && line === "") line = `${"#".repeat(Number(level))} `;
      },
      ontext(text) {
        if (isText) line += text;
      },
      onclosetag(name) {
        if (name === "w:t") isText = false;
        if (name !== "w:p") return;
        lines.push(line.trim());
        line = "";
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  if (!inflateBody(bytes, (text) => parser.write(text))) {
    throw new Unreadable("it is no valid DOCX: it has no word/document.xml");
  }
  parser.end();
  return [{ page: 0, lines }];
}

/** Passes the body on as text, in parts. Returns false if there is none. The other files of the archive are not inflated. */
function inflateBody(bytes: Uint8Array, write: (text: string) => void): boolean {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let size = 0;
  let isComplete = false;
  const unzip = new Unzip((file) => {
    if (file.name !== bodyName || isComplete) return;
    file.ondata = (error, chunk, final) => {
      if (error !== null) throw error;
      size += chunk.length;
      if (size > maxBodyBytes) {
        throw new TooLarge(`its text inflates to more than ${maxBodyBytes} bytes`);
      }
      write(decoder.decode(chunk, { stream: !final }));
      if (final) isComplete = true;
    };
    file.start();
  });
  unzip.register(UnzipInflate);
  try {
    for (let start = 0; start < bytes.length; start += sliceBytes) {
      const end = start + sliceBytes;
      unzip.push(bytes.subarray(start, end), end >= bytes.length);
    }
  } catch (error) {
    if (error instanceof TooLarge) throw error;
    throw new Unreadable("it is no valid DOCX: its archive is damaged", { cause: error });
  }
  return isComplete;
}

import { Unzip, UnzipInflate } from "fflate";
import { Parser } from "htmlparser2";
import type { Page } from "./page.ts";
import { TooLarge, Unreadable } from "./page.ts";

/** The body: Word Online adds a number to its name. */
const bodyName = /^word\/document\d{0,3}\.xml$/;
/** A novel has about 10 MiB. */
const maxBodyBytes = 32 * 1_048_576;
/** What is read of the archive at once, so that a bomb is noticed before it has grown. */
const sliceBytes = 16_384;
/** The parser looks through all open elements for each end tag. */
const maxDepth = 500;

/**
 * Returns the paragraphs of the body of a DOCX document, one line for each. Headers, footers, and comments are left out, and text that
 * nobody sees: what is marked as hidden, and what only replaces a shape.
 */
export function readDocx(bytes: Uint8Array): readonly Page[] {
  const body = new BodyText();
  const parser = new Parser(
    {
      onopentag: (name, attributes) => body.open(name, attributes),
      ontext: (text) => body.text(text),
      onclosetag: (name) => body.close(name),
    },
    { xmlMode: true, decodeEntities: true },
  );
  if (!inflateBody(bytes, (text) => parser.write(text))) throw new Unreadable("no_docx");
  parser.end();
  return [{ page: 0, lines: body.lines }];
}

/** Collects the lines of a body. */
class BodyText {
  readonly lines: string[] = [];
  #line = "";
  #depth = 0;
  /** The depth of the element whose content is left out. 0: none. */
  #skippedAt = 0;
  #isText = false;
  #isHidden = false;

  open(name: string, { "w:val": value }: Readonly<Record<string, string>>): void {
    this.#depth += 1;
    if (this.#depth > maxDepth) throw new TooLarge("depth");
    if (name === "mc:Fallback" && this.#skippedAt === 0) this.#skippedAt = this.#depth;
    if (name === "w:r") this.#isHidden = false;
    if (name === "w:vanish") this.#isHidden = value !== "0" && value !== "false";
    if (name === "w:t") this.#isText = true;
    if (name === "w:tab") this.#line += "\t";
    if (name === "w:tc" && this.#line !== "") this.#line += " ";
    if (name === "w:br" || name === "w:cr") this.#line += " ";
    // A heading starts a passage, as in Markdown.
    const level = name === "w:pStyle" ? /^heading\s?([1-6])$/i.exec(value ?? "")?.[1] : undefined;
    if (level !== undefined && this.#line === "") this.#line = `${"#".repeat(Number(level))} `;
  }

  text(text: string): void {
    if (this.#isText && !this.#isHidden && this.#skippedAt === 0) this.#line += text;
  }

  close(name: string): void {
    if (this.#skippedAt === this.#depth) this.#skippedAt = 0;
    this.#depth -= 1;
    if (name === "w:t") this.#isText = false;
    if (name === "w:r") this.#isHidden = false;
    if (name !== "w:p" || this.#skippedAt > 0) return;
    this.lines.push(this.#line.trim());
    this.#line = "";
  }
}

/** Passes the body on as text, in parts. Returns false if there is none. The other files of the archive are not inflated. */
function inflateBody(bytes: Uint8Array, write: (text: string) => void): boolean {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let size = 0;
  let body: string | undefined;
  let isComplete = false;
  const unzip = new Unzip((file) => {
    if (body !== undefined || !bodyName.test(file.name)) return;
    body = file.name;
    file.ondata = (error, chunk, final) => {
      if (error !== null) throw error;
      size += chunk.length;
      if (size > maxBodyBytes) throw new TooLarge("inflated");
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
    throw new Unreadable("no_docx", { cause: error });
  }
  return isComplete;
}

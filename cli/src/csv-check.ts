/** What is known of a CSV file after a look at all of it. */
export interface CsvShape {
  readonly delimiter: string;
  readonly columns: number;
  readonly rows: number;
}

/** A file that is no CSV, and why. */
export interface NotCsv {
  readonly problem: string;
}

const delimiters = [",", ";", "\t", "|"] as const;

/**
 * Says whether bytes are a CSV file with a header and at least one row: text, quotes that close, and rows that fit the
 * header. A byte order mark, empty cells, short rows and any of four delimiters are fine.
 */
export function checkCsv(bytes: Uint8Array): CsvShape | NotCsv {
  if (bytes.length === 0) return { problem: "it is empty" };
  if (startsWith(bytes, [0xff, 0xfe]) || startsWith(bytes, [0xfe, 0xff])) {
    return { problem: "it is UTF-16 text; save it as UTF-8" };
  }
  if (bytes.includes(0)) return { problem: "it is not text" };
  const text = decode(bytes);
  if (/^\s*[<{[]/.test(text)) return { problem: "it looks like JSON, XML or HTML" };
  const delimiter = delimiters.reduce((best, each) =>
    headerCells(text, each) > headerCells(text, best) ? each : best,
  );
  return shapeOf(text, delimiter);
}

/** How many cells the first record has; 0 when there is none. */
function headerCells(text: string, delimiter: string): number {
  const { value: first } = recordsOf(text, delimiter).next();
  return !first || "problem" in first ? 0 : first.cells;
}

function shapeOf(text: string, delimiter: string): CsvShape | NotCsv {
  let columns = 0;
  let rows = 0;
  let tooLong = 0;
  for (const record of recordsOf(text, delimiter)) {
    if ("problem" in record) return record;
    if (columns === 0) columns = record.cells;
    else {
      rows += 1;
      if (record.cells > columns) tooLong += 1;
    }
  }
  if (columns === 0) return { problem: "it has no header" };
  if (rows === 0) return { problem: "it has a header and no rows" };
  if (tooLong * 10 > rows) {
    return { problem: `${tooLong} of ${rows} rows have more cells than the header` };
  }
  return { delimiter, columns, rows };
}

/** The records of a text, each by its number of cells; blank lines are none. */
function* recordsOf(
  text: string,
  delimiter: string,
): Generator<{ readonly cells: number } | NotCsv, void, undefined> {
  let line = 1;
  let place = 0;
  while (place < text.length) {
    let cells = 1;
    let isBlank = true;
    const startLine = line;
    for (let isOpen = true; isOpen;) {
      if (text[place] === '"') {
        isBlank = false;
        const end = closingQuote(text, place);
        if (end === undefined) return yield { problem: `line ${startLine}: a quote never closes` };
        line += countLines(text, place, end);
        place = end + 1;
        if (!isCellEnd(text[place], delimiter)) {
          return yield { problem: `line ${line}: text follows a closing quote` };
        }
      }
      while (!isCellEnd(text[place], delimiter)) {
        isBlank = false;
        place += 1;
      }
      isOpen = text[place] === delimiter;
      if (isOpen) {
        isBlank = false;
        cells += 1;
        place += 1;
      }
    }
    place += text.startsWith("\r\n", place) ? 2 : 1;
    line += 1;
    if (!isBlank) yield { cells };
  }
}

function closingQuote(text: string, open: number): number | undefined {
  let end = text.indexOf('"', open + 1);
  while (end !== -1 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
  return end === -1 ? undefined : end;
}

function isCellEnd(character: string | undefined, delimiter: string): boolean {
  return (
    character === undefined || character === delimiter || character === "\n" || character === "\r"
  );
}

function countLines(text: string, from: number, to: number): number {
  let lines = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) {
    lines += 1;
  }
  return lines;
}

/** UTF-8, without its byte order mark; a file that is not UTF-8 is read byte by byte, which is enough to see its shape. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

function startsWith(bytes: Uint8Array, prefix: readonly number[]): boolean {
  return prefix.every((byte, index) => bytes[index] === byte);
}

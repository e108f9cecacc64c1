import { CsvError } from "csv-parse";
import type { Options } from "csv-parse/sync";
import { parse } from "csv-parse/sync";

/** The shape of a CSV file. */
export interface CsvShape {
  readonly delimiter: string;
  readonly columns: number;
  readonly rows: number;
}

/** Why a file is not CSV. */
export interface NotCsv {
  readonly problem: string;
}

const delimiters = [",", ";", "\t", "|"] as const;

/**
 * Checks that a file is CSV with a header and at least one row. Accepts a byte order mark, empty cells, short rows, and four
 * delimiters. Rejects quotes that do not close, and files in which more than a tenth of the rows is longer than the header.
 */
export function checkCsv(bytes: Uint8Array): CsvShape | NotCsv {
  if (bytes.length === 0) return { problem: "the file is empty" };
  if (startsWith(bytes, [0xff, 0xfe]) || startsWith(bytes, [0xfe, 0xff])) {
    return { problem: "the file is UTF-16 text; save it as UTF-8" };
  }
  if (bytes.includes(0)) return { problem: "the file is not text" };
  const text = decode(bytes);
  if (/^\s*[<{[]/.test(text)) return { problem: "the file looks like JSON, XML, or HTML" };
  const delimiter = delimiters.reduce((best, each) =>
    headerCells(text, each) > headerCells(text, best) ? each : best,
  );
  try {
    return shapeOf(text, { delimiter });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // A quote inside an unquoted cell, as in `5" pipe`, is common and does not change the shape.
    if (error.code === "INVALID_OPENING_QUOTE")
      return shapeOf(text, { delimiter, relax_quotes: true });
    return { problem: describeProblem(error) };
  }
}

/** Returns the number of cells in the header; 0 if there is none. */
function headerCells(text: string, delimiter: string): number {
  let cells = 0;
  try {
    eachRecord(text, { delimiter, to: 1 }, (count) => (cells = count));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
  }
  return cells;
}

function shapeOf(
  text: string,
  options: Options & { readonly delimiter: string },
): CsvShape | NotCsv {
  let columns = 0;
  let rows = 0;
  let tooLong = 0;
  eachRecord(text, options, (cells) => {
    if (columns === 0) columns = cells;
    else {
      rows += 1;
      if (cells > columns) tooLong += 1;
    }
  });
  if (columns === 0) return { problem: "the file has no header" };
  if (rows === 0) return { problem: "the file has a header but no rows" };
  if (tooLong * 10 > rows) {
    return { problem: `${tooLong} of ${rows} rows have more cells than the header` };
  }
  return { delimiter: options.delimiter, columns, rows };
}

/** Calls `visit` with the number of cells of each record. Throws a CsvError if the quotes are invalid. */
function eachRecord(text: string, options: Options, visit: (cells: number) => void): void {
  const parseOptions: Options = {
    ...options,
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    skip_empty_lines: true,
    // Returning null discards the record, so that the records of a large file need no memory.
    on_record: (record: readonly string[]) => {
      visit(record.length);
      return null;
    },
  };
  parse(text, parseOptions);
}

function describeProblem(error: CsvError): string {
  const line = `line ${String(error["lines"])}`;
  if (error.code === "CSV_QUOTE_NOT_CLOSED") return `${line}: a quote is never closed`;
  if (error.code === "CSV_INVALID_CLOSING_QUOTE") return `${line}: text follows a closing quote`;
  return `${line}: ${error.message}`;
}

/** Decodes UTF-8 and removes the byte order mark. Decodes any other text byte by byte, which is enough to see its shape. */
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

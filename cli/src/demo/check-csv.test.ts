import { expect, test } from "vitest";
import { checkCsv } from "./check-csv.ts";

const check = (text: string) => checkCsv(Buffer.from(text));

test.each([
  ["commas", "a,b\n1,2\n3,4\n", ",", 2, 2],
  ["a last line without a line feed", "a,b\n1,2", ",", 2, 1],
  ["Windows line ends and a byte order mark", "\uFEFFa;b\r\n1;2\r\n", ";", 2, 1],
  ["quoted cells with delimiters, line feeds, and quotes", 'a,b\n"1,\n""x""",2\n', ",", 2, 1],
  ["tabs", "a\tb\tc, d\n1\t2\t3\n", "\t", 3, 1],
  ["empty cells, short rows, and blank lines", "a,b,c\n,,\n\n1\n", ",", 3, 2],
  ["quotes inside unquoted cells", 'a,b\n5" pipe,2\n', ",", 2, 1],
  ["mixed line ends", 'a,b\n"1",2\r\n"3","4"\r\n', ",", 2, 2],
  ["one column", "name\nÄnne\nBo\n", ",", 1, 2],
])("accepts %s", (_, text, delimiter, columns, rows) => {
  expect(check(text)).toEqual({ delimiter, columns, rows });
});

test("accepts text that is not UTF-8", () => {
  expect(checkCsv(Buffer.from("stra\xdfe,nr\nx,1\n", "latin1"))).toMatchObject({ columns: 2 });
});

test.each([
  ["an empty file", "", "empty"],
  ["blank lines", "\n\n", "no header"],
  ["a header without rows", "a,b\n", "no rows"],
  ["a quote that is never closed", 'a,b\n"1,2\n', "line 2: a quote is never closed"],
  ["text after a closing quote", 'a,b\n"1"2,3\n', "line 2: text follows a closing quote"],
  ["JSON", '{\n"a": 1\n}\n', "JSON"],
  ["prose", "# Title\nOne, two, three\nfour, five\n", "more cells than the header"],
])("rejects %s", (_, text, problem) => {
  expect(check(text)).toEqual({ problem: expect.stringContaining(problem) });
});

test("rejects data that is not text", () => {
  expect(checkCsv(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1]))).toEqual({
    problem: "the file is not text",
  });
  expect(checkCsv(Buffer.from("\uFEFFa,b\n1,2\n", "utf16le"))).toEqual({
    problem: expect.stringContaining("UTF-16"),
  });
});

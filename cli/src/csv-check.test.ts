import { expect, test } from "vitest";
import { checkCsv } from "./csv-check.ts";

const check = (text: string) => checkCsv(Buffer.from(text));

test.each([
  ["commas", "a,b\n1,2\n3,4\n", ",", 2, 2],
  ["no line feed at the end", "a,b\n1,2", ",", 2, 1],
  ["Windows line ends and a byte order mark", "\uFEFFa;b\r\n1;2\r\n", ";", 2, 1],
  ["quotes with delimiters, line feeds and quotes in them", 'a,b\n"1,\n""x""",2\n', ",", 2, 1],
  ["tabs", "a\tb\tc, d\n1\t2\t3\n", "\t", 3, 1],
  ["empty cells, short rows and blank lines", "a,b,c\n,,\n\n1\n", ",", 3, 2],
  ["one column", "name\nÄnne\nBo\n", ",", 1, 2],
])("accepts %s", (_, text, delimiter, columns, rows) => {
  expect(check(text)).toEqual({ delimiter, columns, rows });
});

test("accepts text that is not UTF-8", () => {
  expect(checkCsv(Buffer.from("stra\xdfe,nr\nx,1\n", "latin1"))).toMatchObject({ columns: 2 });
});

test.each([
  ["nothing", "", "empty"],
  ["blank lines", "\n\n", "no header"],
  ["a header alone", "a,b\n", "no rows"],
  ["a quote that never closes", 'a,b\n"1,2\n', "line 2: a quote never closes"],
  ["text after a closing quote", 'a,b\n"1"2,3\n', "line 2: text follows a closing quote"],
  ["JSON", '{\n"a": 1\n}\n', "JSON"],
  ["prose", "# Title\nOne, two, three\nfour, five\n", "more cells than the header"],
])("refuses %s", (_, text, problem) => {
  expect(check(text)).toEqual({ problem: expect.stringContaining(problem) });
});

test("refuses what is not text", () => {
  expect(checkCsv(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1]))).toEqual({
    problem: "it is not text",
  });
  expect(checkCsv(Buffer.from("\uFEFFa,b\n1,2\n", "utf16le"))).toEqual({
    problem: expect.stringContaining("UTF-16"),
  });
});

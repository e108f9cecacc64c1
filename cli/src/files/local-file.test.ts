import { expect, test } from "vitest";
import { parseLocalFile } from "./local-file.ts";

test.each([
  ["data/sales.csv", { path: "data/sales.csv", name: "sales.csv" }],
  ["sales.csv=in/data.csv", { path: "sales.csv", name: "in/data.csv" }],
  ["a=b.csv=data.csv", { path: "a=b.csv", name: "data.csv" }],
  ["data/sales.csv=", { path: "data/sales.csv", name: "sales.csv" }],
])("parses %s as a file and its name", (text, file) => {
  expect(parseLocalFile(text)).toEqual(file);
});

import { expect, test } from "vitest";
import { allPages } from "./all-pages.ts";
import { parseLocalFile } from "./upload.ts";

test.each([
  ["data/sales.csv", { path: "data/sales.csv", name: "sales.csv" }],
  ["sales.csv=in/data.csv", { path: "sales.csv", name: "in/data.csv" }],
  ["a=b.csv=data.csv", { path: "a=b.csv", name: "data.csv" }],
  ["data/sales.csv=", { path: "data/sales.csv", name: "sales.csv" }],
])("reads %s as a file and its name", (typed, file) => {
  expect(parseLocalFile(typed)).toEqual(file);
});

test("asks for pages only as long as items are wanted", async () => {
  const asked: string[] = [];
  const page = (token: string) => {
    asked.push(token);
    return Promise.resolve({ items: [1, 2], nextPageToken: `${token}x` });
  };
  expect(await Array.fromAsync(allPages(page, 3))).toEqual([1, 2, 1]);
  expect(await Array.fromAsync(allPages(page, 2))).toEqual([1, 2]);
  expect(asked).toEqual(["", "x", ""]);
});

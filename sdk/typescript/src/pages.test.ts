import { expect, test } from "vitest";
import { allPages } from "./pages.ts";

test("requests pages only while the caller needs items", async () => {
  const requests: string[] = [];
  const page = ({ pageToken, pageSize }: { pageToken: string; pageSize: number }) => {
    requests.push(`${pageSize} from "${pageToken}"`);
    return Promise.resolve({ items: [1, 2], nextPageToken: `${pageToken}x` });
  };
  expect(await Array.fromAsync(allPages(page, 3))).toEqual([1, 2, 1]);
  expect(await Array.fromAsync(allPages(page, 2))).toEqual([1, 2]);
  expect(requests).toEqual(['3 from ""', '3 from "x"', '2 from ""']);
});

test("requests large pages without a limit, until the last one", async () => {
  const sizes: number[] = [];
  const page = ({ pageToken, pageSize }: { pageToken: string; pageSize: number }) => {
    sizes.push(pageSize);
    return Promise.resolve({ items: [1], nextPageToken: pageToken === "" ? "next" : "" });
  };
  expect(await Array.fromAsync(allPages(page))).toEqual([1, 1]);
  expect(sizes).toEqual([1_000, 1_000]);
});

import type { Page, PageRequest } from "../table/page.ts";
import { keyOfToken, maxPageBytes, pageSizeOf, tokenOf } from "../table/page.ts";
import type { IndexedRow, IndexedRows, Selection } from "./indexed-rows.ts";
import type { OrderRange } from "./row-outline.ts";

/** The records of an index that are searched. */
export interface SearchedRows<Item, Field extends string> extends OrderRange {
  readonly selection: Selection<Field>;
  readonly decode: (bytes: Uint8Array) => Item;
  readonly matches: (record: Item) => boolean;
}

/** How much of an index one request searches: a large index must not keep the process from other work. */
const maxSearched = { rows: 1_000, bytes: 4 * 1024 * 1024 };

type Rows<Item, Field extends string> = Pick<IndexedRows<Item, Field>, "select" | "direction">;

/**
 * Returns one page of the records that match, in the order of the list. Searches a limited number of records: a page may have fewer
 * than requested, or none, although there are more. The next page continues where the search ended.
 */
export function searchPage<Item, Field extends string>(
  rows: Rows<Item, Field>,
  searched: SearchedRows<Item, Field>,
  request: PageRequest,
): Page<Item> {
  const size = pageSizeOf(request);
  const items: Item[] = [];
  let room = maxPageBytes;
  let last: string | undefined;
  for (const { row, isBeyond } of rowsToSearch(rows, searched, request)) {
    if (last !== undefined && (isBeyond || items.length === size)) {
      return { items, nextPageToken: tokenOf(last) };
    }
    const record = searched.decode(row.bytes);
    if (searched.matches(record)) {
      room -= row.bytes.length;
      if (room < 0 && last !== undefined && items.length > 0) {
        return { items, nextPageToken: tokenOf(last) };
      }
      items.push(record);
    }
    last = row.order;
  }
  return { items, nextPageToken: "" };
}

/**
 * Calls `visit` with the records that match among a limited number, which follow a token. Returns the token with which the next
 * search continues; empty: there are no more.
 */
export function searchSlice<Item, Field extends string>(
  rows: Rows<Item, Field>,
  searched: SearchedRows<Item, Field>,
  pageToken: string,
  visit: (record: Item) => void,
): string {
  let last = "";
  for (const { row, isBeyond } of rowsToSearch(rows, searched, { pageToken })) {
    if (isBeyond) return tokenOf(last);
    const record = searched.decode(row.bytes);
    if (searched.matches(record)) visit(record);
    last = row.order;
  }
  return "";
}

/** Yields the rows to search, and says of the first row that is beyond the limits that it is. */
function* rowsToSearch<Item, Field extends string>(
  rows: Rows<Item, Field>,
  { selection, from, before }: SearchedRows<Item, Field>,
  { pageToken }: Pick<PageRequest, "pageToken">,
): Iterable<{ readonly row: IndexedRow; readonly isBeyond: boolean }> {
  const isAscending = rows.direction === "ascending";
  const isAfter = (a: string, b: string) => (isAscending ? a > b : a < b);
  const [start, end] = isAscending ? [from, before] : [before, from];
  const previous = keyOfToken(pageToken);
  const isStartNext = start !== undefined && (previous === undefined || isAfter(start, previous));
  let left = maxSearched.rows;
  let bytesLeft = maxSearched.bytes;
  for (const row of rows.select(selection, isStartNext ? start : previous)) {
    if (end !== undefined && isAfter(row.order, end)) return;
    const isBeyond = left-- <= 0 || bytesLeft <= 0;
    bytesLeft -= row.bytes.length;
    yield { row, isBeyond };
    if (isBeyond) return;
  }
}

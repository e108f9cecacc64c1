import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

const defaultSize = 100;
const maxSize = 1_000;

/** The page that a request asks for. */
export interface PageRequest {
  /** 0 means the default of 100. More than 1000 means 1000. */
  readonly pageSize: number;
  /** `nextPageToken` of the previous page; empty for the first page. */
  readonly pageToken: string;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

/**
 * Returns one page of `items`, which must be ordered. A token holds the key of the last item of its page, so items that are
 * added or removed between two requests neither hide nor repeat others. A page ends early when its items reach one mebibyte by
 * `bytesOf`, so that every client accepts it; it has at least one item. `keyOf` must be unique. `isAfter` tells whether a key
 * comes after another.
 */
export function pageOf<Item>(
  items: readonly Item[],
  request: PageRequest,
  keyOf: (item: Item) => string,
  isAfter: (key: string, previous: string) => boolean,
  bytesOf: (item: Item) => number = () => 0,
): Page<Item> {
  const after = (previous: string | undefined) =>
    previous === undefined ? items : items.filter((item) => isAfter(keyOf(item), previous));
  return takePage(after, request, keyOf, bytesOf);
}

/** The size of the items of a page, in bytes. */
export const maxPageBytes = 1024 * 1024;

/** Returns how many items a page has at most. */
export function pageSizeOf({ pageSize }: Pick<PageRequest, "pageSize">): number {
  return pageSize === 0 ? defaultSize : Math.min(pageSize, maxSize);
}

/**
 * As `pageOf`, for items that are read when they are needed: `after` returns those after a key, or all of them. Reads one item
 * more than the page has.
 */
export function takePage<Item>(
  after: (previous: string | undefined) => Iterable<Item>,
  { pageSize, pageToken }: PageRequest,
  keyOf: (item: Item) => string,
  bytesOf: (item: Item) => number,
): Page<Item> {
  const size = pageSizeOf({ pageSize });
  const items: Item[] = [];
  let room = maxPageBytes;
  for (const item of after(keyOfToken(pageToken))) {
    room -= bytesOf(item);
    const last = items.at(-1);
    const isFull = items.length === size || room < 0;
    if (last !== undefined && isFull) return { items, nextPageToken: tokenOf(keyOf(last)) };
    items.push(item);
  }
  return { items, nextPageToken: "" };
}

/** Returns the token of the page that follows the item with this key. */
export function tokenOf(key: string): string {
  return Buffer.from(`k:${key}`).toString("base64url");
}

/** Returns the key that a token holds; undefined for the first page. Throws a Failure for a token of no page. */
export function keyOfToken(token: string): string | undefined {
  if (token === "") return undefined;
  const text = Buffer.from(token, "base64url").toString();
  if (text.startsWith("k:") && tokenOf(text.slice(2)) === token) return text.slice(2);
  throw invalidPageToken();
}

/** Returns the refusal of a token that is not one of a previous page. */
export function invalidPageToken(): Failure {
  const violation = {
    field: "page_token",
    description: "is not a token of a previous page",
    reason: "MALFORMED",
  };
  return new Failure(
    "invalid",
    ErrorReason.INVALID_REQUEST,
    "page_token is not a token of a previous page; leave it out to get the first page",
    { violations: [violation] },
  );
}

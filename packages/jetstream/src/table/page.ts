import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

const defaultSize = 100;
const largestSize = 1_000;

/** What a request says of the page that it wants. */
export interface PageRequest {
  /** 0: the default of 100. More than 1000 means 1000. */
  readonly pageSize: number;
  /** `nextPageToken` of the page before; empty: the first page. */
  readonly pageToken: string;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Empty: this is the last page. */
  readonly nextPageToken: string;
}

/**
 * One page of `items`, which are in order. A token holds the key of the last item of its page, so that items that come or
 * go in between neither hide nor repeat others. A page ends early where its items come to a mebibyte by `bytesOf`, so that
 * every client accepts it. `keyOf` must be unique; `isAfter` says whether an item comes after a key.
 */
export function pageOf<Item>(
  items: readonly Item[],
  { pageSize, pageToken }: PageRequest,
  keyOf: (item: Item) => string,
  isAfter: (key: string, previous: string) => boolean,
  bytesOf: (item: Item) => number = () => 0,
): Page<Item> {
  const size = pageSize === 0 ? defaultSize : Math.min(pageSize, largestSize);
  const previous = keyIn(pageToken);
  const rest =
    previous === undefined ? items : items.filter((item) => isAfter(keyOf(item), previous));
  const page = fitting(rest.slice(0, size), bytesOf);
  const last = page.at(-1);
  const isLast = last === undefined || rest.length === page.length;
  return { items: page, nextPageToken: isLast ? "" : tokenOf(keyOf(last)) };
}

const maxBytes = 1024 * 1024;

/** The first of the items that are small enough together; one at least. */
function fitting<Item>(items: readonly Item[], bytesOf: (item: Item) => number): readonly Item[] {
  let room = maxBytes;
  const end = items.findIndex((item) => (room -= bytesOf(item)) < 0);
  return end === -1 ? items : items.slice(0, Math.max(1, end));
}

function tokenOf(key: string): string {
  return Buffer.from(`k:${key}`).toString("base64url");
}

function keyIn(token: string): string | undefined {
  if (token === "") return undefined;
  const text = Buffer.from(token, "base64url").toString();
  if (text.startsWith("k:") && tokenOf(text.slice(2)) === token) return text.slice(2);
  const violation = {
    field: "page_token",
    description: "is none that a page before gave",
    reason: "MALFORMED",
  };
  throw new Failure(
    "invalid",
    ErrorReason.INVALID_REQUEST,
    "page_token is none that a page before gave; ask for the first page without one",
    { violations: [violation] },
  );
}

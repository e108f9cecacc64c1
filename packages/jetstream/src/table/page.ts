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
  { pageSize, pageToken }: PageRequest,
  keyOf: (item: Item) => string,
  isAfter: (key: string, previous: string) => boolean,
  bytesOf: (item: Item) => number = () => 0,
): Page<Item> {
  const size = pageSize === 0 ? defaultSize : Math.min(pageSize, maxSize);
  const previous = keyOfToken(pageToken);
  const rest =
    previous === undefined ? items : items.filter((item) => isAfter(keyOf(item), previous));
  const page = firstFitting(rest.slice(0, size), bytesOf);
  const last = page.at(-1);
  const isLast = last === undefined || rest.length === page.length;
  return { items: page, nextPageToken: isLast ? "" : tokenOf(keyOf(last)) };
}

const maxBytes = 1024 * 1024;

/** Returns the first items that fit into a page together, at least one. */
function firstFitting<Item>(
  items: readonly Item[],
  bytesOf: (item: Item) => number,
): readonly Item[] {
  let room = maxBytes;
  const end = items.findIndex((item) => (room -= bytesOf(item)) < 0);
  return end === -1 ? items : items.slice(0, Math.max(1, end));
}

function tokenOf(key: string): string {
  return Buffer.from(`k:${key}`).toString("base64url");
}

function keyOfToken(token: string): string | undefined {
  if (token === "") return undefined;
  const text = Buffer.from(token, "base64url").toString();
  if (text.startsWith("k:") && tokenOf(text.slice(2)) === token) return text.slice(2);
  const violation = {
    field: "page_token",
    description: "is not a token of a previous page",
    reason: "MALFORMED",
  };
  throw new Failure(
    "invalid",
    ErrorReason.INVALID_REQUEST,
    "page_token is not a token of a previous page; leave it out to get the first page",
    { violations: [violation] },
  );
}

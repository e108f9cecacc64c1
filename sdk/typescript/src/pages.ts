/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Requests the next page. Empty on the last page. */
  readonly nextPageToken: string;
}

/** What a page request asks for. */
export interface PageRequest {
  readonly pageToken: string;
  readonly pageSize: number;
}

const maxPageSize = 1_000;

/** Yields the items of all pages, at most `limit` of them. Requests a page only when the caller reaches it. */
export async function* allPages<Item>(
  page: (request: PageRequest) => Promise<Page<Item>>,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<Item, void, undefined> {
  const pageSize = Math.min(limit, maxPageSize);
  let remaining = limit;
  for (let token: string | undefined = ""; token !== undefined && remaining > 0;) {
    const { items, nextPageToken } = await page({ pageToken: token, pageSize });
    for (const item of items) {
      if (remaining-- <= 0) return;
      yield item;
    }
    token = nextPageToken === "" ? undefined : nextPageToken;
  }
}

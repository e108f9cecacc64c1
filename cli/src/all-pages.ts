/** The items of all pages, as they are needed, until `limit` items have come. */
export async function* allPages<Item>(
  page: (
    pageToken: string,
  ) => Promise<{ readonly items: readonly Item[]; readonly nextPageToken: string }>,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<Item, void, undefined> {
  let left = limit;
  for (let token: string | undefined = ""; token !== undefined;) {
    const { items, nextPageToken } = await page(token);
    for (const item of items) {
      if (left-- <= 0) return;
      yield item;
    }
    token = nextPageToken === "" || left <= 0 ? undefined : nextPageToken;
  }
}

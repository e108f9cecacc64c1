import type { Locator, Page } from "playwright-core";

/** Returns the origins of the documents that a page shows, in its frames too. */
export function originsOf(page: Page): ReadonlySet<string> {
  return new Set(page.frames().map((frame) => originOf(frame.url())));
}

/** Returns the origin of the document that an element is in. */
export async function originOfElement(element: Locator): Promise<string> {
  await using handle = await element.elementHandle();
  const frame = await handle?.ownerFrame();
  return originOf(frame?.url() ?? "");
}

function originOf(url: string): string {
  return URL.parse(url)?.origin ?? "null";
}

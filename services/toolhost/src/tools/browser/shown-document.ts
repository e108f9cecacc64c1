import type { CDPSession } from "playwright-core";

const maxUrlChars = 2_048;
const maxTitleChars = 300;
const maxAttempts = 3;

/** What the browser says of the document that a page shows. Address and title are cut. */
export interface ShownDocument {
  readonly url: string;
  readonly title: string;
  /** Differs for each document. */
  readonly identity: string;
}

/** Runs in a world of its own, in which the page has changed nothing. */
const expression = `({
  url: location.href.slice(0, ${maxUrlChars}),
  title: String(document.title).slice(0, ${maxTitleChars}),
  identity: location.origin + " " + performance.timeOrigin,
})`;

/**
 * Returns what `take` returns, and the document that it is of. Repeats it if the page shows another document meanwhile, so that no
 * content is under the address of another one. Rejects if the page does so each time.
 */
export async function withDocument<Taken>(
  devtools: CDPSession,
  take: () => Promise<Taken>,
): Promise<Pick<ShownDocument, "url" | "title"> & { readonly taken: Taken }> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const before = await shownDocument(devtools);
    const taken = await take();
    const { url, title, identity } = await shownDocument(devtools);
    if (identity === before.identity) return { url, title, taken };
  }
  throw new Error("the page shows one document after another; read it again");
}

async function shownDocument(devtools: CDPSession): Promise<ShownDocument> {
  for (let attempt = 1; ; attempt++) {
    try {
      const { frameTree } = await devtools.send("Page.getFrameTree");
      const { executionContextId: contextId } = await devtools.send("Page.createIsolatedWorld", {
        frameId: frameTree.frame.id,
        worldName: "reeve",
      });
      const options = { contextId, expression, returnByValue: true };
      const { result } = await devtools.send("Runtime.evaluate", options);
      // The expression returns this.
      return result.value as ShownDocument;
    } catch (error) {
      // A document that is replaced takes its world with it.
      if (attempt === maxAttempts) throw error;
    }
  }
}

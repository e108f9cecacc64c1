/** The text of a page of a document, or of a whole document without pages. */
export interface Page {
  /** The number of the page, starting at 1. 0: the format has no pages. */
  readonly page: number;
  readonly lines: readonly string[];
}

/** A document that cannot be read. The message says why, and names no content. */
export class Unreadable extends Error {}

/** A document that exceeds a limit. The message names the limit. */
export class TooLarge extends Error {}

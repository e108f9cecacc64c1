import type { Limit, Problem } from "./parsed-document.ts";

/** The text of a page of a document, or of a whole document without pages. */
export interface Page {
  /** The number of the page, starting at 1. 0: the format has no pages. */
  readonly page: number;
  readonly lines: readonly string[];
}

/** A document that cannot be read. */
export class Unreadable extends Error {
  readonly problem: Problem;

  constructor(problem: Problem, options?: ErrorOptions) {
    super(problem, options);
    this.problem = problem;
  }
}

/** A document that exceeds a limit. */
export class TooLarge extends Error {
  readonly limit: Limit;

  constructor(limit: Limit) {
    super(limit);
    this.limit = limit;
  }
}

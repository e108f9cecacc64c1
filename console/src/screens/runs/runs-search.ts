/** The filters of the list of runs, as the address has them. */
export interface RunsSearch {
  readonly status?: readonly string[];
  readonly agent?: string;
  readonly thread?: string;
}

/** Reads the filters of an address, which a person may have written. */
export function readRunsSearch(search: Record<string, unknown>): RunsSearch {
  return {
    ...(Array.isArray(search["status"]) && { status: search["status"].map(String) }),
    ...(typeof search["agent"] === "string" && { agent: search["agent"] }),
    ...(typeof search["thread"] === "string" && { thread: search["thread"] }),
  };
}

/** One result of a search. */
export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/** A request for results of a search. */
interface SearchRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** A search engine with an HTTP API. */
export interface SearchEngine {
  /** The address of its API. */
  readonly baseUrl: URL;
  /** Returns the request for a query. `count` is from 1 to 20. */
  requestFor(query: string, count: number): SearchRequest;
  /** Returns the results in an answer; undefined if it is none of this API. */
  resultsOf(answer: unknown): readonly SearchResult[] | undefined;
}

/** Returns the URL of a method below the address of an API. */
export function methodUrl(
  baseUrl: URL,
  path: string,
  parameters: Readonly<Record<string, string>>,
): URL {
  const url = new URL(baseUrl);
  url.pathname = `${baseUrl.pathname.replace(/\/$/, "")}${path}`;
  url.search = new URLSearchParams(parameters).toString();
  return url;
}

import { z } from "zod";
import type { SearchEngine } from "./search-engine.ts";
import { methodUrl } from "./search-engine.ts";

const answers = z.object({
  results: z.array(z.object({ title: z.string(), url: z.string(), content: z.string().nullish() })),
});

/** SearXNG, whose settings must have `json` in `search.formats`. A key, if any, is a bearer token for a proxy in front of it. */
export function searxng(baseUrl: URL, key: string | undefined): SearchEngine {
  return {
    baseUrl,
    requestFor: (query) => ({
      url: methodUrl(baseUrl, "/search", { q: query, format: "json" }),
      headers: {
        accept: "application/json",
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
    }),
    resultsOf: (answer) =>
      answers
        .safeParse(answer)
        .data?.results.map(({ title, url, content }) => ({ title, url, snippet: content ?? "" })),
  };
}

import { z } from "zod";
import type { SearchEngine } from "./search-engine.ts";
import { methodUrl } from "./search-engine.ts";

const answers = z.object({
  type: z.literal("search"),
  // Absent: nothing was found.
  web: z
    .object({
      results: z.array(
        z.object({ title: z.string(), url: z.string(), description: z.string().nullish() }),
      ),
    })
    .nullish(),
});

/** The Brave Search API, or one that is compatible with it. */
export function brave(baseUrl: URL, key: string): SearchEngine {
  return {
    baseUrl,
    requestFor: (query, count) => ({
      url: methodUrl(baseUrl, "/res/v1/web/search", {
        q: query,
        count: String(count),
        text_decorations: "false",
      }),
      headers: { accept: "application/json", "x-subscription-token": key },
    }),
    resultsOf: (answer) => {
      const { data } = answers.safeParse(answer);
      return (
        data &&
        (data.web?.results ?? []).map(({ title, url, description }) => ({
          title,
          url,
          snippet: description ?? "",
        }))
      );
    },
  };
}

import { PermissionClass } from "@reeve/contracts/tool";
import { runtimeTool } from "./runtime-tool.ts";

export const searchKnowledgeName = "search_knowledge";

/** The tool with which a model searches the collections of its run. Only runs with collections have it. */
export const searchKnowledge = runtimeTool(
  searchKnowledgeName,
  PermissionClass.KNOWLEDGE,
  "Searches documents for passages with words of the query. Each passage has a label with its document, page, and lines: cite it in square brackets where you use it.",
  {
    query: { type: "string", description: "Words to search for." },
    collection: {
      type: ["string", "null"],
      description: "Id of the collection to search. Left out: all collections of this run.",
    },
    limit: {
      type: "integer",
      minimum: 1,
      maximum: 20,
      description: "The maximum number of passages. Default: 5.",
    },
  },
  ["query"],
);

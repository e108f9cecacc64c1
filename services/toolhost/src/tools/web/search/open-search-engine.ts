import { isLoopback } from "@reeve/platform/config";
import { invalidConfig } from "@reeve/platform/process/json-config";
import type { Redaction } from "@reeve/platform/telemetry/redaction/redaction";
import type { ToolhostConfig } from "../../../config.ts";
import { brave } from "./brave.ts";
import type { SearchEngine } from "./search-engine.ts";
import { searxng } from "./searxng.ts";

const braveUrl = "https://api.search.brave.com";

type SearchSettings = Pick<
  ToolhostConfig,
  "REEVE_WEB_SEARCH" | "REEVE_WEB_SEARCH_URL" | "REEVE_WEB_SEARCH_KEY"
>;

/**
 * Returns the configured search engine; undefined if there is none. `redaction` recognizes its key from now on. Throws a Failure
 * if a setting is missing, or if the key would be readable in transit.
 */
export function openSearchEngine(
  { REEVE_WEB_SEARCH: kind, REEVE_WEB_SEARCH_URL: url, REEVE_WEB_SEARCH_KEY: key }: SearchSettings,
  redaction: Pick<Redaction, "keep">,
): SearchEngine | undefined {
  if (kind === undefined) return undefined;
  if (url === undefined && kind === "searxng") {
    throw invalidConfig("REEVE_WEB_SEARCH_URL", "is required with REEVE_WEB_SEARCH=searxng");
  }
  const baseUrl = new URL(url ?? braveUrl);
  if (key !== undefined) {
    if (baseUrl.protocol !== "https:" && !isLoopback(baseUrl.hostname)) {
      const problem = "must be https:// (http:// only on loopback) with REEVE_WEB_SEARCH_KEY";
      throw invalidConfig("REEVE_WEB_SEARCH_URL", problem);
    }
    redaction.keep(key);
  }
  if (kind === "searxng") return searxng(baseUrl, key);
  if (key === undefined) {
    throw invalidConfig("REEVE_WEB_SEARCH_KEY", "is required with REEVE_WEB_SEARCH=brave");
  }
  return brave(baseUrl, key);
}
